package origins_test

import (
	"encoding/json"
	"strings"
	"testing"

	"indirtui/indirector/origins"
	"indirtui/indirector/redact"
)

// table is where a class, a file in it and a virtual resource are from.
func table() *origins.Table {
	return &origins.Table{
		Resources: []origins.Resource{
			{Type: "Class", Title: "main"},
			{Type: "Class", Title: "Db", File: "/e/site.pp", Line: 1, Container: 1, Attributes: []origins.Attribute{{"password", 2}}},
			{Type: "File", Title: "/x <\"é\">", File: "/e/db.pp", Line: 3, Container: 2, Attributes: []origins.Attribute{{"content", 3}, {"mode", 4}, {"tries", 6}}},
			{Type: "File", Title: "/gone", Container: 2, Absent: true},
			{Type: "File", Title: "/exported", Virtual: true},
		},
		Origins: []origins.Origin{
			{},
			{Kind: origins.Literal, File: "/e/site.pp", Line: 2},
			{Kind: origins.Data, Level: "level common", File: "/e/common.yaml", Line: 7, Lost: 1},
			{Kind: origins.Override, File: "/e/site.pp", Line: 5, Lost: 1},
			{Kind: origins.Classifier},
			{},
			{Kind: origins.Data, Level: "merged (deep): level node /e/node.yaml:1, level common /e/common.yaml:8"},
		},
	}
}

func values(pairs ...string) (all []origins.Value) {
	for i := 0; i < len(pairs); i += 2 {
		all = append(all, origins.Value{Name: pairs[i], JSON: json.RawMessage(pairs[i+1])})
	}
	return all
}

func TestWhy(t *testing.T) {
	t.Parallel()
	doc := table().Document(nil)
	for name, tt := range map[string]struct {
		ref    string
		values []origins.Value
		want   string
	}{
		"all kinds": {
			"File[/x <\"é\">]", values("content", `"a"`, "mode", `"0644"`, "tries", "3", "later", "null"),
			"File[/x <\"é\">]  /e/db.pp:3\nwithin Class[main], Class[Db]\n" +
				"content|\"a\"|override|/e/site.pp:5\n||  overruled: resource expression|/e/site.pp:2\nmode|\"0644\"|node classifier|-\n" +
				"tries|3|data merged (deep)|level node /e/node.yaml:1, level common /e/common.yaml:8\nlater|null|unknown|-\n",
		},
		"data":           {"Class[Db]", values("password", "1"), "Class[Db]  /e/site.pp:1\nwithin Class[main]\npassword|1|data level common|/e/common.yaml:7\n||  overruled: resource expression|/e/site.pp:2\n"},
		"virtual":        {"File[/exported]", nil, "File[/exported]  virtual: the node does not get it\n\n"},
		"not in it":      {"File[/gone]", values("a", "1"), "File[/gone]\n\na|1|unknown|-\n"},
		"without places": {"Class[main]", nil, "Class[main]\n\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := doc.Why(tt.ref, tt.values)
			got := w.Head() + "\n" + w.Inside() + "\n"
			for _, r := range w.Rows() {
				got += strings.Join(r.Cells[:], "|") + "\n"
			}
			if got != tt.want {
				t.Errorf("got\n%s\nwant\n%s", got, tt.want)
			}
		})
	}
}

// A circle of containers, which only a recording can have, comes to an end.
func TestCircle(t *testing.T) {
	t.Parallel()
	doc, err := origins.Parse([]byte(`{"resources":[{"ref":"A[a]","in":"B[b]"},{"ref":"B[b]","in":"A[a]"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	if n := len(doc.Why("A[a]", nil).Within); n < 2 || n > 10_000 {
		t.Errorf("it is within %d", n)
	}
}

// What is written has no secrets, and what redacts texts once more, as exports do, leaves
// it as it is: an attribute is no secret because of its name.
func TestRedacted(t *testing.T) {
	t.Parallel()
	m := redact.New(redact.Rules{})
	clean := func(s string) string { s, _ = m.Text(s); return s }
	tab := table()
	tab.Resources = append(tab.Resources, origins.Resource{Type: "Exec", Title: "mysql -u root -phunter2 x", Container: 2})
	tab.Origins[4].Level = "password=hunter2"
	text := string(tab.AppendJSON(nil, clean))
	if strings.Contains(text, "hunter2") {
		t.Errorf("a secret is in %s", text)
	}
	if again := clean(text); again != text {
		t.Errorf("redacted once more:\n%s\nwas\n%s", again, text)
	}
	doc, err := origins.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if doc.Find(origins.Ref("Exec", clean("mysql -u root -phunter2 x"))) == nil {
		t.Errorf("the resource is not found by its redacted title in %s", text)
	}
}

func TestParse(t *testing.T) {
	t.Parallel()
	if _, err := origins.Parse([]byte(`{"resources":[{"ref":3}]}`)); err == nil {
		t.Error("what is no such document was read")
	}
}
