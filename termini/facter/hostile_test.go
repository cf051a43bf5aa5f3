package facter_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"indirtui/indirector/data"
	"indirtui/termini/facter"
)

// What Facter makes of odd files, we make of them, too. Rule RES-FACT-05.
func TestRealFacterHostileFiles(t *testing.T) {
	first := write(t, map[string]string{
		"twice.txt": "twice=first directory\n", "m.txt": "within=m\n", "n.json": `{"within":"n"}`, "k.yaml": "within: k\n",
		".hidden.yaml": "hidden: 1\n", ".hidden*": "#!/bin/sh\necho hidden2=1\n", ".d/x.txt": "hidden3=1\n", "sub/x.txt": "below=1\n",
		"y.yml": "yml: 1\n", "y.yml.txt": "two_ends=1\n", "none.": "none=1\n", "UPPER.YAML": "upper: 1\n",
		"crlf.txt": "crlf=a\r\ncrlf2=b\r\n", "crlf.yaml": "crlf3: a\r\ncrlf4: b\r\n", "bom.txt": "\ufeffbom=1\nbom2=2\n", "bom.yaml": "\ufeffbom3: 1\n",
		"case.yaml": "Case: 1\ncase: 2\nCASE: 3\n", "case2.txt": "Case2=1\ncase2=2\n", "inner.yaml": "inner: {Upper: 1, upper: 2}\n",
		"keys.yaml": "true: yes\n~: null key\n1.5: float\n? [a, b]\n: list key\n\"\": empty\n\" blank \": 1\n", "merge.yaml": "x: &x {a: 1}\ny: {<<: *x, b: 2}\n",
		"object.yaml": "object: !ruby/object:Object {}\nlost: 1\n", "many.yaml": "many1: 1\n---\nmany2: 2\n", "empty.yaml": "", "comment.yaml": "# nothing\n",
		"nul.txt": "nul=a\x00b\n", "tabs.txt": "\ttabs\t=\tx\t\n", "equals.txt": "====\n==\n=\na=\n=a\n", "long.txt": "long=" + strings.Repeat("x", 1<<16) + "\n",
		"shell.txt": "shell=$(id) `id` ${HOME}\n", "export.txt": "export exported=1\n", "quoted.txt": "quoted=\"a b\"\n", "last.txt": "last=without end",
		"dup.json": `{"dup":1,"dup":{"a":2}}`, "deep.json": `{"deep":` + strings.Repeat("[", 90) + strings.Repeat("]", 90) + `}`, "nan.json": `{"nan": NaN}`,
		"comment.json": "{\"c1\": 1 /* x */, // y\n\"c2\": 2}", "unicode.json": `{"uni":"\ud83d\ude00\u0000é"}`, "big.json": `{"big":1e300,"small":-0.0,"exp":1E2}`,
		"half.json": `{"half":"\ud800"}`,
	})
	programs := map[string]string{
		"p01*": "#!/bin/sh\necho p01=1; exit 127\n", "p02*": "#!/bin/sh\nkill -9 $$\n", "p03*": "#!/bin/sh\necho p03=1 >&2\n", "p04*": "echo p04=without interpreter\n",
		"p05*": "#!/no/such/interpreter\n", "p06*": "#!/bin/sh\nprintf 'p06=a\\377b'\n", "p07*": "#!/bin/sh\necho '[1, 2]'\n", "p08*": "#!/bin/sh\necho '{\"p08\": {\"A\": [null]}}'\n",
		"p09*": "#!/bin/sh\nprintf -- '---\\np09: 1\\n...\\n'\n", "p10*": "#!/bin/sh\nprintf 'p10=1: 2\\n'\n", "p11*": "#!/bin/sh\nprintf 'p11: 2020-01-02\\n'\n",
		"p12 blank*": "#!/bin/sh\necho p12=$#\n", "p13*": "#!/bin/sh\nprintf 'p13=1\\np13=2\\nP13=3\\n'\n", "p14.json*": "#!/bin/sh\necho p14=1\n", "p15.com*": "#!/bin/sh\necho p15=1\n",
		"p16*": "#!/bin/sh\nprintf 'p16: :sym\\n'\n", "p17*": "#!/bin/sh\nprintf 'p17: !ruby/object:Object {}\\n'\n", "p18*": "#!/bin/sh\nprintf '\\n\\n  p18=x\\n\\n'\n",
		"p19*": "#!/bin/sh\nprintf 'p19: &a [*a]\\n'\n", "p20*": "#!/bin/sh\nprintf 'p20=%s\\n' \"$FACTER_outside\"\n", "p21*": "",
		"p22*": "#!/bin/sh\necho p22=$LANG$LC_ALL\n", "p23*": "#!/bin/sh\npwd >/dev/null; echo p23=ok; exec 1>&-; exit 0\n",
	}
	second := write(t, programs)
	third := write(t, map[string]string{"twice.txt": "twice=third directory\n", "own.txt": "third=1\n"})
	for link, to := range map[string]string{"link.txt": filepath.Join(third, "own.txt"), "dangling.txt": filepath.Join(first, "nowhere"), "loop.yaml": filepath.Join(second, "loop.yaml")} {
		if err := os.Symlink(to, filepath.Join(second, link)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(second, "directory.txt"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("FACTER_outside", "seen")
	same(t, func() (got, want data.Value) {
		want = real(t, "--external-dir", first, "--external-dir", second, "--external-dir", third)
		got, _ = collect(t, facter.Options{
			ExternalDirs: []string{first, second, third}, Environ: append(plainEnviron(), "FACTER_outside=seen"),
		})
		return facter.Stringify(got), want
	})
}
