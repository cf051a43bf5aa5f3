package traces

import (
	"fmt"
	"net/url"
	"path/filepath"
	"strconv"
)

// Why a terminus answers as it does, in sentences that two have use for: the terminus
// of this program, which notes them as it answers, and who watches the one of Puppet
// from outside.
const (
	EmptyClassifier = "the classifier (ENC) printed nothing, so Puppet has no node"
	EmptyYAML       = "the file is empty; YAML reads that as false"
	YAMLCatalog     = "Puppet 7 and 8 cannot read a catalog back from YAML"
	OlderYAML       = "the file was written by an older Puppet: its timestamps have no quotes, and Puppet 7 and 8 refuse them"
	DestroySaves    = "store_configs destroy calls save: nothing was deactivated"                                                 // Gap S-44.
	StringRest      = `no facts are sent: the terminus of catalog is the string "rest", and the agent looks for the symbol :rest` // Rule IND-ROUTE-09.
	LocalBucket     = "stored on this machine: the URL names no server"                                                           // Gap S-20.
	IgnoredHost     = "Puppet 7 and 8 ignore the host in a filebucket URL; the main server was asked"                             // Gap S-19.
	NoValidators    = "the server sends neither a checksum nor Last-Modified, so the file looks changed every time"
	ProxyInTheWay   = "a proxy or another web server is in the way"
)

// ClassifierNotStarted is about an ENC that could not be run.
func ClassifierNotStarted(why string) string { return "the classifier could not be started: " + why }

// ClassifierFailed is about an ENC whose exit code is not 0. Puppet throws away what
// it wrote to its standard error.
func ClassifierFailed(exit, stderr string) string {
	if stderr == "" {
		return "the classifier failed (exit " + exit + ") and wrote nothing to stderr"
	}
	return "the classifier failed (exit " + exit + ")" + HiddenStderr(stderr)
}

// maxStderr is how many bytes of a standard error are quoted.
const maxStderr = 2000

// HiddenStderr is what a command wrote to its standard error, as the end of a
// sentence; "" if it wrote nothing.
func HiddenStderr(stderr string) string {
	if len(stderr) > maxStderr {
		stderr = stderr[:maxStderr] + "…"
	}
	if stderr == "" {
		return ""
	}
	return `: "` + stderr + `", which Puppet does not show`
}

// OtherEnvironment is about a catalog without resources, of a node whose environment
// is not the one that was asked for.
func OtherEnvironment(node, environment, asked string) string {
	return fmt.Sprintf("the environment of %s is %s, not %s: the catalog is empty, and the agent starts again in %s", node, environment, asked, environment)
}

// YAMLSearch is about a key that is the name of a node, which matches no file.
func YAMLSearch(key string) string {
	return fmt.Sprintf("yaml compares with file names: search for %s.yaml, or *", key)
}

// NoYAMLDir is about a directory that cannot be made because the one above it is not
// there. Rule TERM-FILE-08.
func NoYAMLDir(dir string) string {
	return filepath.Dir(dir) + " does not exist; json would have created it, yaml does not"
}

// NestedFact is about a search for a part of a fact. Rule TERM-FQ-04.
func NestedFact(fact, operator string) string {
	return fmt.Sprintf("only top-level facts can be searched; `%s.%s` is read as operator %q of fact %q", fact, operator, operator, fact)
}

// TwoStores is about two termini of the same name, one for the symbol and one for the
// string, of which c was asked. Rule IND-TERM-09.
func TwoStores(c *Choice) string {
	source := c.Source
	if source == "" {
		source = c.Kind.String()
	}
	if c.Symbol {
		return fmt.Sprintf(":%s from %s and %q from routes.yaml are two different stores", c.Terminus, source, c.Terminus)
	}
	return fmt.Sprintf("%q from %s and :%s from code are two different stores", c.Terminus, source, c.Terminus)
}

// OtherPath is about content that a bucket has for other paths.
func OtherPath(path string) string { return "the bucket has this content, but not under " + path }

// OtherDigest is about a checksum of another kind than those of the bucket; asked is
// "" if the key names none.
func OtherDigest(asked, kept string) string {
	if asked == "" {
		asked = "no checksum"
	}
	return fmt.Sprintf("asked for %s, this bucket keeps %s", asked, kept)
}

// LocalSource is about a source without a host, which an application, such as apply,
// takes for a file of this machine.
func LocalSource(application string) string {
	return "puppet:/// means this machine under puppet " + application
}

// LocalSourceBy is LocalSource because of a setting, "setting default_file_terminus,
// puppet.conf:2".
func LocalSourceBy(setting string) string { return "puppet:/// means this machine: " + setting }

// NoMount is about a mount that a file server does not have: only with a certificate
// is that refused. Rule TERM-FSRV-02.
func NoMount(name string) string {
	return fmt.Sprintf("there is no mount %q (fileserver.conf); agents get 500 instead of 404", name)
}

// Percent is about the first percent code in the key of a file, which is not decoded;
// "" if there is none. Gap S-45.
func Percent(key string) string {
	for i := 0; i+2 < len(key); i++ {
		c, err := url.PathUnescape(key[i : i+3])
		if err != nil || len(c) != 1 {
			continue
		}
		if c = strconv.Quote(c); c == `" "` {
			c = "a space"
		}
		return key[i:i+3] + " is taken literally: write " + c + " in the source"
	}
	return ""
}

// NoFormat is about an answer over HTTP whose media type is of no format of Puppet.
func NoFormat(kind, what string) string { return kind + " is not a format of Puppet: " + what }

// NoPuppetDB is about a PuppetDB of which no server has answered.
func NoPuppetDB(why string) string { return "no PuppetDB answered: " + why }
