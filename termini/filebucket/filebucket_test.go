package filebucket_test

import (
	"context"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"indirtui/indirector"
	"indirtui/indirector/model"
	"indirtui/termini/filebucket"
	"indirtui/traces"
)

func has(t *testing.T, what, text string, words ...string) {
	t.Helper()
	for _, w := range words {
		if !strings.Contains(text, w) {
			t.Errorf("%s lacks %q:\n%s", what, w, text)
		}
	}
}

func is(t *testing.T, what, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("%s: got %q, want %q", what, got, want)
	}
}

func TestWhere(t *testing.T) {
	t.Parallel()
	t.Run("TERM-FB-01 the option, the instance, the setting", func(t *testing.T) {
		t.Parallel()
		h := newFixture(t, nil)
		sum := h.save(t, "text", "/a")
		elsewhere := filepath.Join(t.TempDir(), "other")
		f := file("text")
		f.BucketPath = elsewhere
		if _, err := h.do(t, indirector.Save, "sha256/"+sum+"//b", f); err != nil {
			t.Fatal(err)
		}
		is(t, "of the setting", h.found(t, "sha256/"+sum+"//a"), "text")
		is(t, "not there", h.found(t, "sha256/"+sum+"//b"), "nil")
		is(t, "of the option", h.found(t, "sha256/"+sum+"//b", option("bucket_path", elsewhere)), "text")
	})
	t.Run("TERM-FB-01 nobody says where", func(t *testing.T) {
		t.Parallel()
		h := newFixture(t, settings{"bucketdir": ""})
		const words = "there is no bucket: set bucketdir, or give bucket_path"
		is(t, "find", h.found(t, "sha256/"+sumOf("text")), "error: "+words)
		_, err := h.do(t, indirector.Save, "sha256/"+sumOf("text"), file("text"))
		is(t, "save", indirector.Message(err), words)
	})
	t.Run("TERM-FB-10 nobody names a bucket over the network", func(t *testing.T) {
		t.Parallel()
		h := newFixture(t, nil)
		elsewhere := t.TempDir()
		f := file("text")
		f.BucketPath = elsewhere
		remote := option("ip", "192.0.2.1")
		if _, err := h.do(t, indirector.Save, "sha256/"+sumOf("text"), f, remote); err != nil {
			t.Fatal(err)
		}
		if left := tree(t, elsewhere); len(left) != 1 {
			t.Errorf("it was saved elsewhere: %v", left)
		}
		is(t, "find", h.found(t, "sha256/"+sumOf("text"), option("bucket_path", elsewhere), remote), "text")
		has(t, "the story", h.story(), "bucket_path is dropped")
	})
}

func TestLayout(t *testing.T) {
	t.Parallel()
	t.Run("TERM-FB-02 directories and modes", func(t *testing.T) {
		t.Parallel()
		h := newFixture(t, nil)
		h.save(t, "some text\n", "/etc/motd")
		const sum = "a23e5fdcd7b276bdd81aa1a0b7b963101863dd3f61ff57935f8c5ba462681ea6"
		want := map[string]string{}
		for _, d := range []string{".", "a", "a/2", "a/2/3", "a/2/3/e", "a/2/3/e/5", "a/2/3/e/5/f", "a/2/3/e/5/f/d", "a/2/3/e/5/f/d/c", "a/2/3/e/5/f/d/c/" + sum} {
			want[d] = "drwxrwx---"
		}
		want["a/2/3/e/5/f/d/c/"+sum+"/contents"] = "-r--r----- some text\n"
		want["a/2/3/e/5/f/d/c/"+sum+"/paths"] = "-rw-r----- /etc/motd\n"
		if diff := cmp.Diff(want, tree(t, h.dir)); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("TERM-FB-03 a path is listed once", func(t *testing.T) {
		t.Parallel()
		h := newFixture(t, nil)
		var sum string
		for _, path := range []string{"", "/a", "/b", "/a", "/a b", "/ü", "/\xff", "rel", "/a"} {
			sum = h.save(t, "text", path)
		}
		got, err := os.ReadFile(h.at(sum, "paths"))
		if want := "/a\n/b\n/a b\n/ü\n/\xff\nrel\n"; err != nil || string(got) != want {
			t.Errorf("got %q, %v; want %q", got, err, want)
		}
	})
	t.Run("TERM-FB-03 a line without an end gets one", func(t *testing.T) {
		t.Parallel()
		h := newFixture(t, nil)
		sum := h.save(t, "text", "")
		if err := os.WriteFile(h.at(sum, "paths"), []byte("/crlf\r\n/half"), 0o640); err != nil {
			t.Fatal(err)
		}
		h.save(t, "text", "/half")
		h.save(t, "text", "/crlf")
		h.save(t, "text", "/new")
		got, err := os.ReadFile(h.at(sum, "paths"))
		if want := "/crlf\r\n/half\n/new\n"; err != nil || string(got) != want {
			t.Errorf("got %q, %v; want %q", got, err, want)
		}
	})
	t.Run("TERM-FB-03 long lines are compared whole", func(t *testing.T) {
		t.Parallel()
		h := newFixture(t, nil)
		long := strings.Repeat("x", 100_000)
		sum := h.save(t, "text", "/"+long)
		h.save(t, "text", "/"+long)
		for path, want := range map[string]string{"/" + long: "text", "/" + long[1:]: "nil", long: "nil", "/" + long[:4095]: "nil"} {
			is(t, "find "+path[:10], h.found(t, "sha256/"+sum+"/"+path), want)
		}
		if info, err := os.Stat(h.at(sum, "paths")); err != nil || info.Size() != int64(len(long)+2) {
			t.Errorf("paths: %v, %v", info, err)
		}
	})
}

func TestKeys(t *testing.T) {
	t.Parallel()
	h := newFixture(t, nil)
	sum := h.save(t, "text", "/a")
	tests := []struct{ name, key, want string }{
		{"checksum alone", "sha256/" + sum, "text"},
		{"an empty path is none", "sha256/" + sum + "/", "text"},
		{"with the path", "sha256/" + sum + "//a", "text"},
		{"another path", "sha256/" + sum + "//b", "nil"},
		{"another type", "md5/" + sum, `error: Unsupported checksum type "md5"`},
		{"nothing", "/", `error: Unsupported checksum type ""`},
		{"no checksum", "sha256", `error: Invalid checksum nil`},
		{"an empty one", "sha256/", `error: Invalid checksum ""`},
		{"too short", "sha256/" + sum[1:], `error: Invalid checksum "` + sum[1:] + `"`},
		{"too long", "sha256/" + sum + "0", `error: Invalid checksum "` + sum + `0"`},
		{"upper case", "sha256/" + strings.ToUpper(sum), `error: Invalid checksum "` + strings.ToUpper(sum) + `"`},
		{"no hex", "sha256/" + sum[1:] + "g", `error: Invalid checksum "` + sum[1:] + `g"`},
		{"up", "sha256/../../../etc/passwd", `error: Invalid checksum ".."`},
		{"up, encoded", "sha256/%2e%2e%2f%2e%2e/x", `error: Invalid checksum "%2e%2e%2f%2e%2e"`},
		{"a line before it", "sha256/..\n" + sum, `error: Invalid checksum "..\n` + sum + `"`},
		{"a line behind it", "sha256/" + sum + "\n", `error: Invalid checksum "` + sum + `\n"`},
		{"a zero byte", "sha256/\x00" + sum[1:], `error: Invalid checksum "\u0000` + sum[1:] + `"`},
		{"no UTF-8", "sha256/\xff", `error: Invalid checksum "\xFF"`},
	}
	for _, tt := range tests {
		t.Run("TERM-FB-04 "+tt.name, func(t *testing.T) {
			is(t, tt.key, h.found(t, tt.key), tt.want)
			// head and save report the same about the key.
			if words, bad := strings.CutPrefix(tt.want, "error: "); bad {
				_, err := h.do(t, indirector.Head, tt.key, nil)
				is(t, "head", indirector.Message(err), words)
				_, err = h.do(t, indirector.Save, tt.key, file("text"))
				is(t, "save", indirector.Message(err), words)
				if f := (*indirector.Failure)(nil); !errors.As(err, &f) || f.Hidden == "" || !errors.Is(err, indirector.ErrInvalid) {
					t.Errorf("%v does not say why", err)
				}
			}
		})
	}
	t.Run("gap S-22 the types differ", func(t *testing.T) {
		h.found(t, "md5/ad0234829205b9033196ba818f7a872b")
		has(t, "the story", h.story(), "asked for md5, this bucket keeps sha256")
	})
}

func TestAlgorithms(t *testing.T) {
	t.Parallel()
	for _, algorithm := range []string{"md5", "sha1", "sha224", "sha256", "sha384", "sha512"} {
		t.Run("TERM-FB-04 "+algorithm, func(t *testing.T) {
			t.Parallel()
			h := newFixture(t, settings{"digest_algorithm": algorithm})
			f, err := model.NewFileBucketFile(algorithm, []byte("text"))
			if err != nil {
				t.Fatal(err)
			}
			if _, err := h.do(t, indirector.Save, f.Key()+"//a", f); err != nil {
				t.Fatal(err)
			}
			is(t, "find", h.found(t, f.Key()+"//a"), "text")
			is(t, "too short", h.found(t, f.Key()[:len(f.Key())-1]), `error: Invalid checksum "`+f.Checksum[:len(f.Checksum)-1]+`"`)
		})
	}
	for _, algorithm := range []string{"mtime", "md5lite", "none", "SHA256"} {
		_, err := filebucket.File.New(indirector.Env{Settings: settings{"digest_algorithm": algorithm}})
		if err == nil || !strings.Contains(err.Error(), algorithm) {
			t.Errorf("%s: got %v", algorithm, err)
		}
	}
}

func TestFind(t *testing.T) {
	t.Parallel()
	t.Run("TERM-FB-05 what it says", func(t *testing.T) {
		t.Parallel()
		h := newFixture(t, nil)
		sum := h.save(t, "text", "/a")
		r, err := h.do(t, indirector.Find, "sha256/"+sum, nil)
		if err != nil {
			t.Fatal(err)
		}
		is(t, "name", r.Instance().Key(), "sha256/"+sum)
		has(t, "the log", h.logs.String(), "level=INFO", "FileBucket read "+sum)
	})
	t.Run("TERM-FB-05 gap S-21 the wrong path", func(t *testing.T) {
		t.Parallel()
		h := newFixture(t, nil)
		sum := h.save(t, "text", "/a")
		is(t, "find", h.found(t, "sha256/"+sum+"//b"), "nil")
		has(t, "the story", h.story(), "the bucket has this content, but not under", "/b")
	})
	t.Run("TERM-FB-05 a look writes nothing", func(t *testing.T) {
		t.Parallel()
		h := newFixture(t, nil)
		sum := h.save(t, "text", "/a")
		if err := os.Remove(h.at(sum, "paths")); err != nil {
			t.Fatal(err)
		}
		is(t, "find", h.found(t, "sha256/"+sum), "text")
		is(t, "find by path", h.found(t, "sha256/"+sum+"//a"), "nil")
		if _, err := os.Stat(h.at(sum, "paths")); !os.IsNotExist(err) {
			t.Errorf("paths is there: %v", err)
		}
	})
	t.Run("TERM-FB-09 head", func(t *testing.T) {
		t.Parallel()
		h := newFixture(t, nil)
		sum := h.save(t, "text", "/a")
		for key, want := range map[string]bool{sum: true, sum + "//a": true, sum + "//b": false, sumOf("other"): false} {
			r, err := h.do(t, indirector.Head, "sha256/"+key, nil)
			if err != nil || r.Value != want {
				t.Errorf("head %s: got %v, %v; want %v", key, r, err, want)
			}
		}
	})
	t.Run("TERM-FB-09 the key need not be the name", func(t *testing.T) {
		t.Parallel()
		h := newFixture(t, nil)
		for _, terminus := range []string{"file", "selector"} {
			_, err := h.Do(t.Context(), &indirector.Request{
				Indirection: "file_bucket_file", Verb: indirector.Save, Terminus: terminus,
				Key: "sha256/" + strings.Repeat("0", 64), Instance: file("text"),
			})
			if err != nil {
				t.Errorf("%s: %v", terminus, err)
			}
			_, err = h.Do(t.Context(), &indirector.Request{
				Indirection: "file_bucket_file", Verb: indirector.Save, Terminus: terminus, Key: "sha256/" + sumOf("text"), Instance: indirector.Name("x"),
			})
			if !strings.Contains(indirector.Message(err), "expected Puppet::FileBucket::File") {
				t.Errorf("%s: another model: %v", terminus, err)
			}
		}
		is(t, "find", h.found(t, "sha256/"+sumOf("text")), "text")
	})
	t.Run("what is no file", func(t *testing.T) {
		t.Parallel()
		h := newFixture(t, nil)
		sum := sumOf("text")
		if err := os.MkdirAll(h.at(sum, "contents"), 0o777); err != nil {
			t.Fatal(err)
		}
		has(t, "find", h.found(t, "sha256/"+sum), "error: Is a directory @ io_fread")
		_, err := h.do(t, indirector.Save, "sha256/"+sum, file("text"))
		has(t, "save", indirector.Message(err), "Is a directory")
	})
}

func TestDiff(t *testing.T) {
	t.Parallel()
	h := newFixture(t, nil)
	a, b := h.save(t, "one\ntwo\n", "/a"), h.save(t, "one\nthree\n", "/a")
	t.Run("TERM-FB-06 two contents", func(t *testing.T) {
		got := h.found(t, "sha256/"+a, option("diff_with", b))
		has(t, "the answer", got, "--- "+h.at(a, "contents"), "+++ "+h.at(b, "contents"), "\n one\n-two\n+three\n")
		is(t, "of one", h.found(t, "sha256/"+a, option("diff_with", a)), "")
	})
	for name, with := range map[string]string{
		"nothing there": sumOf("none"), "no checksum": "../../../../../../../../../etc", "a path": "/etc/passwd", "empty": "", "upper case": strings.ToUpper(b),
	} {
		t.Run("TERM-FB-06 "+name, func(t *testing.T) {
			is(t, with, h.found(t, "sha256/"+a, option("diff_with", with)), "error: could not find diff_with "+with)
		})
	}
	t.Run("TERM-FB-06 no command", func(t *testing.T) {
		without := newFixture(t, settings{"diff": "", "bucketdir": h.dir})
		is(t, "find", without.found(t, "sha256/"+a, option("diff_with", b)), "error: Unable to diff on this platform")
	})
	t.Run("TERM-FB-06 no shell", func(t *testing.T) {
		echo := newFixture(t, settings{"diff": "echo", "diff_args": "  $HOME ; `id`  *", "bucketdir": h.dir})
		is(t, "find", echo.found(t, "sha256/"+a, option("diff_with", b)), "$HOME ; `id` * "+h.at(a, "contents")+" "+h.at(b, "contents")+"\n")
	})
	t.Run("TERM-FB-06 a command that is not there", func(t *testing.T) {
		none := newFixture(t, settings{"diff": "no-such-command", "bucketdir": h.dir})
		is(t, "find", none.found(t, "sha256/"+a, option("diff_with", b)), "")
		has(t, "the story", none.story(), "no-such-command was not started")
	})
	t.Run("TERM-FB-06 a command that fails", func(t *testing.T) {
		bad := newFixture(t, settings{"diff_args": "--no-such-option", "bucketdir": h.dir})
		is(t, "find", bad.found(t, "sha256/"+a, option("diff_with", b)), "")
		has(t, "the story", bad.story(), "exit status 2; Puppet does not tell", "stderr (hidden by Puppet)")
	})
}

func TestList(t *testing.T) {
	t.Parallel()
	h := newFixture(t, nil)
	key := "sha256/"
	all := option("list_all", true)
	t.Run("TERM-FB-07 no bucket", func(t *testing.T) {
		is(t, "list", h.found(t, key, all), "nil")
	})
	a, b, c, none := h.save(t, "a", "/z"), h.save(t, "b", "/a"), h.save(t, "c", "/z"), h.save(t, "none", "")
	h.save(t, "a", "/b")
	for sum, day := range map[string]int{a: 3, b: 2, c: 1, none: 1} {
		at := time.Date(2021, 5, day, 12, 0, 0, 5e8, time.Local)
		if err := os.Chtimes(h.at(sum, "paths"), at, at); err != nil {
			t.Fatal(err)
		}
	}
	lineOf := func(sum, day, path string) string { return sum + " 2021-05-0" + day + " 12:00:00 " + path + "\n" }
	whole := lineOf(b, "2", "/a") + lineOf(a, "3", "/b") + lineOf(c, "1", "/z") + lineOf(a, "3", "/z")
	tests := []struct {
		name, from, to, want string
	}{
		{"all", "", "", whole},
		{"from", "2021-05-03", "", lineOf(a, "3", "/b") + lineOf(a, "3", "/z")},
		{"the limits are in it, in seconds", "2021-05-02 12:00:00", "2021-05-02 12:00:00", lineOf(b, "2", "/a")},
		{"to", "", "2021-05-02 11:59:59", lineOf(c, "1", "/z")},
		{"nothing", "2022-01-01", "", ""},
		{"a bad from", "soon", "", "error: Error while parsing 'fromdate'"},
		{"a bad to", "", "soon", "error: Error while parsing 'todate'"},
	}
	for _, tt := range tests {
		t.Run("TERM-FB-07 "+tt.name, func(t *testing.T) {
			options := []indirector.Option{all}
			if tt.from != "" {
				options = append(options, option("fromdate", tt.from))
			}
			if tt.to != "" {
				options = append(options, option("todate", tt.to))
			}
			is(t, "list", h.found(t, key, options...), tt.want)
		})
	}
	t.Run("TERM-FB-07 what a list does not show", func(t *testing.T) {
		h.found(t, key, all)
		has(t, "the story", h.story(), "1 saved without a path")
		link := filepath.Join(t.TempDir(), "link")
		if err := os.Symlink(h.dir, link); err != nil {
			t.Fatal(err)
		}
		is(t, "list", h.found(t, key, all, option("bucket_path", link)), "")
		has(t, "the story", h.story(), "symbolic link")
	})
	t.Run("TERM-FB-07 over the network", func(t *testing.T) {
		is(t, "list", h.found(t, key, all, option("ip", "192.0.2.1")), "error: Listing remote file buckets is not allowed")
	})
	t.Run("a list that is not wanted", func(t *testing.T) {
		is(t, "find", h.found(t, "sha256/"+a, option("list_all", "false")), "a")
	})
}

func TestSave(t *testing.T) {
	t.Parallel()
	t.Run("TERM-FB-08 under the computed checksum", func(t *testing.T) {
		t.Parallel()
		h := newFixture(t, nil)
		zero := "sha256/" + strings.Repeat("0", 64)
		r, err := h.do(t, indirector.Save, zero+"//etc/motd", file("text"))
		if err != nil {
			t.Fatal(err)
		}
		if f, ok := r.Value.(*model.FileBucketFile); !ok || read(t, f.Contents) != "" || f.Checksum != sumOf("") {
			t.Errorf("the answer is %v, not an empty file", r.Value)
		}
		is(t, "find", h.found(t, "sha256/"+sumOf("text")+"//etc/motd"), "text")
		is(t, "find by the key", h.found(t, zero), "nil")
	})
	t.Run("TERM-FB-08 another type of instance", func(t *testing.T) {
		t.Parallel()
		h := newFixture(t, settings{"digest_algorithm": "md5"})
		f, err := model.NewFileBucketFile("sha256", []byte("text"))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := h.do(t, indirector.Save, "md5/"+strings.Repeat("0", 32), f); err != nil {
			t.Fatal(err)
		}
		is(t, "find", h.found(t, "md5/1cb251ec0d568de6a929b520c4aed8d1"), "text")
	})
	t.Run("TERM-FB-08 a duplicate", func(t *testing.T) {
		t.Parallel()
		h := newFixture(t, nil)
		sum := h.save(t, "text", "/a")
		old := time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)
		if err := os.Chtimes(h.at(sum, "contents"), old, old); err != nil {
			t.Fatal(err)
		}
		h.save(t, "text", "/b")
		has(t, "the log", h.logs.String(), "level=INFO", "FileBucket got a duplicate file {sha256}"+sum)
		if info, err := os.Stat(h.at(sum, "contents")); err != nil || !info.ModTime().After(old) {
			t.Errorf("it was not touched: %v, %v", info, err)
		}
		is(t, "find", h.found(t, "sha256/"+sum+"//b"), "text")
	})
	t.Run("TERM-FB-08 a damaged copy", func(t *testing.T) {
		t.Parallel()
		for _, damage := range []string{"", "texT", "a longer text"} {
			h := newFixture(t, nil)
			sum := h.save(t, "text", "/a")
			if err := errors.Join(os.Chmod(h.at(sum, "contents"), 0o600), os.WriteFile(h.at(sum, "contents"), []byte(damage), 0o600)); err != nil {
				t.Fatal(err)
			}
			h.save(t, "text", "/a")
			has(t, "the log", h.logs.String(), "level=WARN", "Existing backup does not match its expected sum, {sha256}"+sum+". Overwriting corrupted backup.")
			is(t, "contents", tree(t, h.dir)["9/8/2/d/9/e/3/e/"+sum+"/contents"], "-r--r----- text")
		}
	})
	t.Run("TERM-FB-08 two contents with one checksum", func(t *testing.T) {
		t.Parallel()
		// The pair of Wang and Yu, 2004.
		const a = "d131dd02c5e6eec4693d9a0698aff95c2fcab58712467eab4004583eb8fb7f8955ad340609f4b30283e488832571415a085125e8f7cdc99fd91dbdf280373c5b" +
			"d8823e3156348f5bae6dacd436c919c6dd53e2b487da03fd02396306d248cda0e99f33420f577ee8ce54b67080a80d1ec69821bcb6a8839396f9652b6ff72a70"
		const b = "d131dd02c5e6eec4693d9a0698aff95c2fcab50712467eab4004583eb8fb7f8955ad340609f4b30283e4888325f1415a085125e8f7cdc99fd91dbd7280373c5b" +
			"d8823e3156348f5bae6dacd436c919c6dd53e23487da03fd02396306d248cda0e99f33420f577ee8ce54b67080280d1ec69821bcb6a8839396f965ab6ff72a70"
		h := newFixture(t, settings{"digest_algorithm": "md5"})
		sum := "79054025255fb1a26e4bc422aef54eb4"
		first, second := unhex(t, a), unhex(t, b)
		if _, err := h.do(t, indirector.Save, "md5/"+sum+"//a", file(first)); err != nil {
			t.Fatal(err)
		}
		before := tree(t, h.dir)
		_, err := h.do(t, indirector.Save, "md5/"+sum+"//b", file(second))
		is(t, "words", indirector.Message(err), "Existing backup and new file have different content but same checksum, {md5}"+sum+". Verify existing backup and remove if incorrect.")
		if f := (*indirector.Failure)(nil); !errors.As(err, &f) || f.Class != "Puppet::FileBucket::BucketError" || strings.Contains(f.Message, h.dir) {
			t.Errorf("got %v", err)
		}
		has(t, "the log", h.logs.String(), "level=ERROR", "Unable to verify existing FileBucket backup at '"+h.at(sum, "contents")+"'.")
		if diff := cmp.Diff(before, tree(t, h.dir)); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("a path with a line break", func(t *testing.T) {
		t.Parallel()
		h := newFixture(t, nil)
		sum := h.save(t, "text", "/a\nb")
		has(t, "the story", h.story(), "the path holds a line break")
		is(t, "find", h.found(t, "sha256/"+sum), "text")
		is(t, "find by it", h.found(t, "sha256/"+sum+"//a\nb"), "nil")
	})
	t.Run("contents that change", func(t *testing.T) {
		t.Parallel()
		h := newFixture(t, nil)
		f, err := model.NewFileBucketFile("sha256", []byte("before"))
		if err != nil {
			t.Fatal(err)
		}
		f.Contents = model.Bytes("after")
		_, err = h.do(t, indirector.Save, f.Key(), f)
		has(t, "the error", indirector.Message(err), "changed while they were read", sumOf("before"), sumOf("after"))
		nothingKept(t, h)
	})
	t.Run("contents that vanish", func(t *testing.T) {
		t.Parallel()
		h := newFixture(t, nil)
		f := file("")
		f.Contents = broken{fs.ErrNotExist}
		_, err := h.do(t, indirector.Save, "sha256/"+sumOf(""), f)
		if !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("got %v", err)
		}
		nothingKept(t, h)
	})
	t.Run("cancelled", func(t *testing.T) {
		t.Parallel()
		h := newFixture(t, nil)
		ctx, cancel := context.WithCancel(t.Context())
		f := file("")
		f.Contents = endless{cancel}
		_, err := h.Do(ctx, &indirector.Request{Indirection: "file_bucket_file", Verb: indirector.Save, Key: "sha256/" + sumOf(""), Instance: f})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
		nothingKept(t, h)
	})
}

func unhex(t *testing.T, s string) string {
	t.Helper()
	b, err := hex.DecodeString(s)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func nothingKept(t *testing.T, h *fixture) {
	t.Helper()
	if left := tree(t, h.dir); len(left) > 1 {
		t.Errorf("something is left: %v", left)
	}
}

// broken are contents that fail after some bytes.
type broken struct{ err error }

func (b broken) Open() (io.ReadCloser, error) {
	return io.NopCloser(io.MultiReader(strings.NewReader("some"), failing(b))), nil
}
func (broken) Size() int64 { return 1 << 20 }

type failing broken

func (f failing) Read([]byte) (int, error) { return 0, f.err }

// endless are contents that do not end; the second read cancels.
type endless struct{ cancel func() }

func (e endless) Open() (io.ReadCloser, error) { return &zeros{cancel: e.cancel}, nil }
func (endless) Size() int64                    { return -1 }

type zeros struct {
	cancel func()
	reads  int
}

func (z *zeros) Read(b []byte) (int, error) {
	if z.reads++; z.reads == 2 {
		z.cancel()
	}
	return len(b), nil
}
func (*zeros) Close() error { return nil }

func TestManyWriters(t *testing.T) {
	t.Parallel()
	t.Run("TERM-FB-03 TERM-FB-08 of one checksum", func(t *testing.T) {
		t.Parallel()
		h := newFixture(t, nil)
		again := newFixture(t, settings{"bucketdir": h.dir})
		text := strings.Repeat("some text\n", 100_000)
		var writers sync.WaitGroup
		for i := range 16 {
			writers.Go(func() {
				next := []*fixture{h, again}[i%2]
				next.save(t, text, "/"+string(rune('a'+i/2)))
			})
		}
		writers.Wait()
		got, err := os.ReadFile(h.at(sumOf(text), "paths"))
		if err != nil {
			t.Fatal(err)
		}
		for i := range 8 {
			if n := strings.Count(string(got), "/"+string(rune('a'+i))+"\n"); n != 1 || len(got) != 8*3 {
				t.Errorf("paths: %q", got)
			}
		}
		is(t, "sum of what is kept", sumOf(h.found(t, "sha256/"+sumOf(text))), sumOf(text))
		if left, err := filepath.Glob(h.dir + "/.save-*"); err != nil || left != nil {
			t.Errorf("left: %v, %v", left, err)
		}
	})
}

func TestSelector(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, key, want, story string }{
		{"gap S-20 no protocol", "sha256/" + sumOf("text"), "text", "stored on this machine: the URL names no server"},
		{"another protocol", "puppet://host.example.test/sha256/" + sumOf("text"), "text", "selector chose file: protocol puppet"},
		{"gap S-20 a server that is not asked", "puppet://host.example.test/sha256/" + sumOf("text"), "text", "the server host.example.test of the key is not asked"},
		{"gap S-19 a bucket elsewhere", "filebucket://host.example.test:8140/sha256/" + sumOf("text"), "error: Could not find terminus rest for indirection file_bucket_file", "Puppet 7 and 8 ignore the host in a filebucket URL; the main server was asked"},
		{"its reason", "filebucket:///sha256/" + sumOf("text"), "error: Could not find terminus rest for indirection file_bucket_file", "selector chose rest: protocol https"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			h := newFixture(t, nil)
			h.save(t, "text", "")
			is(t, "find", h.found(t, tt.key), tt.want)
			has(t, "the story", h.story(), tt.story)
			if !strings.HasPrefix(tt.want, "error: ") {
				return
			}
			for _, verb := range []indirector.Verb{indirector.Head, indirector.Save} {
				_, err := h.do(t, verb, tt.key, file("text"))
				is(t, verb.String(), "error: "+indirector.Message(err), tt.want)
				has(t, "the story", h.story(), tt.story)
			}
		})
	}
	t.Run("the choice is a span", func(t *testing.T) {
		t.Parallel()
		h := newFixture(t, nil)
		h.save(t, "text", "")
		last := h.ended[len(h.ended)-1]
		for _, s := range last.Spans {
			if s.Kind == traces.Choose && s.Answer == "file" && s.Because.About == "the key has no protocol" {
				return
			}
		}
		t.Errorf("there is no such span: %+v", last.Spans)
	})
	t.Run("verbs that nobody has", func(t *testing.T) {
		t.Parallel()
		h := newFixture(t, nil)
		for _, verb := range []indirector.Verb{indirector.Search, indirector.Destroy} {
			if _, err := h.do(t, verb, "sha256/"+sumOf("text"), nil); !errors.Is(err, indirector.ErrVerbMissing) {
				t.Errorf("%v: got %v", verb, err)
			}
		}
	})
}
