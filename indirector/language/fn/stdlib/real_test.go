package stdlib_test

import (
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"indirtui/indirector/data"
	"indirtui/indirector/golden"
	"indirtui/indirector/language/eval"
	"indirtui/indirector/language/fn/stdlib"
)

// An answer is what real Puppet makes of a call.
type answer struct {
	Code   string `json:"code"`
	String string `json:"string,omitempty"`
	Type   string `json:"type,omitempty"`
	Error  string `json:"error,omitempty"`
	Ruby   bool   `json:"ruby,omitempty"` // the words are Ruby's
	// Skipped means that the value is too long to be compared.
	Skipped bool `json:"skipped,omitempty"`
}

// arguments are what functions are called with.
var arguments = []string{
	"'a'", "''", "'abc'", "'Hello World'", "'1'", "'-5'", "'1.5'", "'1e3'", "'true'", "'no'", "'yes'", "'a,b'", "'/usr/lib/x.tar.gz'", "'C:/x'", "'a/b/'", "'.hidden'",
	"'10.0.0.1'", "'10.0.0.0/8'", "'::1'", "'fe80::1/64'", "'00:a0:1f:12:7f:a0'", "'a@b.example'", "'foo.example.com'", "'4 kB'", "'2GB'", "'^a'", "'[a-c]+'", "'a..e'", "'1-4'",
	"\"l1\\nl2\\n\"", "\"q\\\"'\\$x `y\"", "'aabbcc'", "'ü€'", "'{\"a\": [1, null]}'", "\"a: 1\\nb: [x, 2]\\n\"", "'MD5'", "'encode'", "'decode'", "'strict'", "'YWJj'", "'undef'",
	"0", "1", "-3", "7", "300", "1.5", "-0.5", "undef", "true", "false", "[]", "{}", "['a', 'b']", "['b', 'a', 'b', '']", "[1, 2, 3]", "[1, [2, [3, undef]]]", "['a1', 'b', 'a2']",
	"{'a' => 1}", "{'a' => {'b' => [1, 2]}, 'c' => undef}", "{'b' => 'x', 'a' => 'y'}", "{1 => 2}", "['1', '2']", "['aa', 'bbb']", "[0, '1-2']", "Integer", "'Integer'", "default", "/a+/",
	"'validate_string'", "'validate_integer'", "['/a', '/b']", "['10.0.0.1', '::1']", "{'x' => [{'y' => 1}], 'z' => 'q\"'}", "2.5", "'0'", "16", "'host01'", "'host03'",
}

// Random calls give what they give in real Puppet. INDIRTUI_STDLIB is how many there are,
// INDIRTUI_STDLIB_SEED which.
func TestRandom(t *testing.T) {
	t.Parallel()
	if _, err := os.Stat(filepath.Join(installed, "stdlib")); err != nil {
		t.Skip("the module stdlib is not installed, so nothing is compared with it")
	}
	golden.NeedsPuppet(t)
	count, seed := 300, uint64(1)
	if s := os.Getenv("INDIRTUI_STDLIB"); s != "" {
		count, _ = strconv.Atoi(s)
	}
	if s := os.Getenv("INDIRTUI_STDLIB_SEED"); s != "" {
		seed, _ = strconv.ParseUint(s, 10, 64)
	}
	g := rand.New(rand.NewPCG(seed, 1))
	var names []string
	for name := range stdlib.Functions(stdlib.Options{}) {
		if !slices.Contains(apart, name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	questions := make([]answer, count)
	for i := range questions {
		args := make([]string, []int{0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3}[g.IntN(11)])
		for j := range args {
			args[j] = arguments[g.IntN(len(arguments))]
		}
		questions[i].Code = names[g.IntN(len(names))] + "(" + strings.Join(args, ", ") + ")"
	}
	compared := 0
	for _, want := range golden.Ask[answer](t, questions, "testdata/puppet.rb", installed) {
		if difference, ok := want.compare(t); ok {
			compared++
			if difference != "" {
				t.Error(difference)
			}
		}
	}
	t.Logf("%d of %d calls were compared; INDIRTUI_STDLIB_SEED=%d has them again", compared, count, seed)
	if compared < count/2 {
		t.Errorf("only %d of %d calls were compared", compared, count)
	}
}

// apart are functions whose answers depend on more than their arguments.
var apart = []string{
	"time", "shuffle", "str2saltedsha512", "pry", "glob", "loadyaml", "loadjson", "validate_cmd", "validate_augeas", "assert_private", "private", "deprecation",
	"ensure_packages", "ensure_resource", "ensure_resources", "fact", "os_version_gte", "get_module_path", "load_module_metadata", "parsehocon", "has_interface_with",
	"has_ip_address", "has_ip_network", "fqdn_rotate", "fqdn_rand_string", "validate_x509_rsa_key_pair", "getparam", "defined_with_params", "stdlib::str2resource",
}

func (want answer) compare(t *testing.T) (difference string, compared bool) {
	t.Helper()
	if want.Skipped {
		return "", false
	}
	s := newFixture(t, data.OfHash(nil))
	v, _, err := s.evaluate(t, want.Code)
	if errors.Is(err, errors.ErrUnsupported) || strings.Contains(want.Error, ":0x0000") || strings.Contains(want.String, "Pcore::") || want.Error != "" && !strings.HasPrefix(want.Error, "Evaluation Error") {
		return "", false
	}
	var failed *eval.Error
	errors.As(err, &failed)
	switch {
	case err == nil && want.Error != "":
		return want.Code + "\n got " + eval.Text(v) + "\nwant the error " + want.Error, true
	case err != nil && want.Error == "":
		return want.Code + "\n got the error " + err.Error() + "\nwant " + want.String + " of " + want.Type, true
	case err != nil && (want.Ruby || strings.Contains(want.Error, "undefined method") || strings.Contains(want.Error, "no implicit conversion") || strings.Contains(want.Error, "wrong number of arguments")):
		return "", true
	case err != nil && strings.TrimSpace(failed.Message) != strings.TrimSpace(want.Error):
		return want.Code + "\n got the error " + failed.Message + "\nwant the error " + want.Error, true
	case err == nil && (eval.Text(v) != want.String || eval.TypeOf(v).String() != want.Type):
		return want.Code + "\n got " + eval.Text(v) + " of " + eval.TypeOf(v).String() + "\nwant " + want.String + " of " + want.Type, true
	}
	return "", true
}
