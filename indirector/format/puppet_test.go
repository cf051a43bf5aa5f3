package format_test

import (
	"strings"
	"testing"
	"time"

	"indirtui/indirector/format"
)

// TestAsPuppet reads and writes what Puppet 7.23 was seen to read and write.
func TestAsPuppet(t *testing.T) {
	t.Parallel()
	facts := func(time string) string { return `{"name":"n","values":{},"timestamp":"` + time + `"}` }
	metadata := func(relative string) string {
		return `{"path":"/a","relative_path":` + relative + `,"links":"manage","owner":1,"group":1,"mode":420,"checksum":{"type":"md5","value":"{md5}x"},"type":"file","destination":null}`
	}
	dumped := "--- !ruby/object:Puppet::FileServing::Metadata\nowner: 1\ngroup: 1\nmode: 420\nchecksum_type: md5\nchecksum: \"{md5}x\"\nftype: file\ndestination:\nsource:\ncontent_uri:\npath: \"/a\"\nlinks: :manage\n"
	report := func(logs, statuses string) string {
		return `{"host":"h","time":"2020-01-01T00:00:00.000000000Z","configuration_version":1,"transaction_uuid":"u","report_format":12,"puppet_version":"7","status":"ok",` +
			`"transaction_completed":null,"noop":null,"noop_pending":null,"environment":null,"logs":` + logs + `,"metrics":{},"resource_statuses":` + statuses + `,"corrective_change":null}`
	}
	here := time.Date(2020, 1, 1, 0, 0, 0, 0, time.Local).Format("-07:00") // texts of digits are in local time
	for _, tt := range []struct{ name, model, in, out, want string }{
		{"the year 1", "facts", facts("0001-01-01T00:00:00Z"), "json", facts("0001-01-01T00:00:00.000000000Z")},
		{"14 digits", "facts", facts("20200101102030"), "json", facts("2020-01-01T10:20:30.000000000+00:00")},
		{"6 digits", "facts", facts("991231"), "json", facts("1999-12-31T00:00:00.000000000+00:00")},
		{"year and day of the year", "facts", facts("12345"), "json", facts("2012-12-10T00:00:00.000000000+00:00")},
		{"no such day of the year", "facts", facts("2019366"), "json", "Could not intern from json: yday 366 out of range"},
		{"month 13", "facts", facts("20201301"), "json", "Could not intern from json: mon out of range"},
		{"month 99", "facts", facts("99999999"), "json", "Could not intern from json: argument out of range"},
		{"9 digits", "facts", facts("123456789"), "json", `Could not intern from json: no time information in "123456789"`},

		{"an empty relative path", "file_metadata", metadata(`""`), "yaml", dumped + "relative_path: ''\n"},
		{"no relative path", "file_metadata", metadata("null"), "yaml", dumped},
		{"a relative path of false", "file_metadata", metadata("false"), "json", metadata("null")},

		{"a file without a title", "resource", `{"type":"File","title":""}`, "json", `Could not render to json: No set of title patterns matched the title "".`},
		{"another resource without a title", "resource", `{"type":"Foo","title":""}`, "json", `{"type":"Foo","title":"","tags":[],"exported":false}`},
		{"a class of colons", "resource", `{"type":"Class","title":"a::"}`, "json", `{"type":"Class","title":"A","tags":[],"exported":false}`},

		{"tags that are a hash", "resource", `{"type":"Foo","title":"a","tags":{"x":1},"exported":false}`, "json", `{"type":"Foo","title":"a","tags":["x","1"],"exported":false}`},
		{"logs that are an empty hash", "report", report("{}", "{}"), "json", report("[]", "{}")},
		{
			"tags of a line that are a hash", "report", report(`[{"level":"notice","message":"m","source":"s","tags":{"a":1},"time":"2020-01-01T00:00:00.000000000Z","file":null,"line":1}]`, "{}"), "json",
			report(`[{"level":"notice","message":"m","source":"s","tags":[["a",1]],"time":"2020-01-01T00:00:00.000000000Z","file":null,"line":1}]`, "{}"),
		},
		{"a label that is empty", "report", strings.Replace(report("[]", "{}"), `"metrics":{}`, `"metrics":{"t":{"name":"t","label":"","values":[]}}`, 1), "json", strings.Replace(report("[]", "{}"), `"metrics":{}`, `"metrics":{"t":{"name":"t","label":"","values":[]}}`, 1)},
		{"logs that are a hash", "report", report(`{"a":1}`, "{}"), "json", "Could not intern from json: undefined method `map' for {\"a\"=>1}:Hash"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var got []byte
			i, _, err := format.Intern(mustFormat(t, "json"), tt.model, []byte(tt.in), format.Options{})
			if err == nil {
				got, err = format.Render(mustFormat(t, tt.out), i)
			}
			if err != nil {
				got = []byte(err.Error())
			}
			if want := strings.ReplaceAll(tt.want, "+00:00", here); string(got) != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
		})
	}
	for _, tt := range []struct{ name, text, want string }{
		{"a model as a hash", "--- !ruby/hash:Puppet::Node::Facts\nname: n\n", "undefined method `[]=' for #<Puppet::Node::Facts>"},
		{"a model as a hash within", "--- !ruby/object:Puppet::Node::Facts\nname: n\nvalues: !ruby/hash:Puppet::Node::Facts\n  a: 1\n", "undefined method `[]=' for #<Puppet::Node::Facts>"},
		{"UTF-16", "\xfe\xff\x00a", "ASCII incompatible encoding needs binmode"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if i, _, err := format.InternFile(mustFormat(t, "yaml"), "facts", "x", []byte(tt.text), format.Options{}); err == nil || err.Error() != tt.want {
				t.Errorf("got %v, error %v, want %s", i, err, tt.want)
			}
		})
	}
}
