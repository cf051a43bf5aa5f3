package model_test

import (
	"testing"

	"indirtui/indirector/model"
)

// What Puppet 7.23 makes of each value when rich data are off.
func TestPlain(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, value, want, warning string }{
		{"timestamp", `{"__ptype":"Timestamp","__pvalue":"2020-02-03T04:05:06.500000000 UTC"}`, `"2020-02-03T04:05:06.500000000 UTC"`, "Rich[r]['x'] contains a Puppet::Pops::Time::Timestamp value. It will be converted to the String '2020-02-03T04:05:06.500000000 UTC'"},
		{"binary", `{"__ptype":"Binary","__pvalue":"aGk="}`, `"aGk="`, "Rich[r]['x'] contains a Puppet::Pops::Types::PBinaryType::Binary value. It will be converted to the String 'aGk='"},
		{"regexp", `{"__ptype":"Regexp","__pvalue":"a/b+"}`, `"/a\\/b+/"`, `Rich[r]['x'] contains a Regexp value. It will be converted to the String '/a\/b+/'`},
		{"default", `{"__ptype":"Default"}`, `"default"`, "Rich[r]['x'] contains the special value default. It will be converted to the String 'default'"},
		{"uri", `{"__ptype":"URI","__pvalue":"http://a/b"}`, `"http://a/b"`, "Rich[r]['x'] contains an URI::HTTP value. It will be converted to the String 'http://a/b'"},
		{"deferred", `{"__ptype":"Deferred","name":"upcase","arguments":["x",{"__ptype":"Regexp","__pvalue":"q"}]}`, `"Deferred({'name' => 'upcase', 'arguments' => ['x', /q/]})"`, "Rich[r]['x'] contains a Deferred value. It will be converted to the String 'Deferred({'name' => 'upcase', 'arguments' => ['x', /q/]})'"},
		{"keys", `{"__ptype":"Hash","__pvalue":[1,"one",{"__ptype":"Regexp","__pvalue":"z"},2,true,3,["a"],4]}`, `{"1":"one","/z/":2,"true":3,"[\"a\"]":4}`, "Rich[r]['x'] contains a hash with an Integer key. It will be converted to the String '1'"},
		{"sensitive", `[{"a":{"__ptype":"Sensitive","__pvalue":{"__ptype":"Regexp","__pvalue":"s"}}}]`, `[{"a":{"__ptype":"Sensitive","__pvalue":"/s/"}}]`, "Rich[r]['x'][0]['a'] contains a Regexp value. It will be converted to the String '/s/'"},
		{"type", `{"__ptype":"Pcore::IntegerType","from":1,"to":2}`, `"Integer[1, 2]"`, "Rich[r]['x'] contains an Integer-Type value. It will be converted to the String 'Integer[1, 2]'"},
		{"object", `{"__ptype":"Error","msg":"m"}`, `"Error({'msg' => 'm'})"`, "Rich[r]['x'] contains a Puppet::DataTypes::Error value. It will be converted to the String 'Error({'msg' => 'm'})'"},
		{"plain", `{"a":[1,null,"b"]}`, `{"a":[1,null,"b"]}`, ""},
		{"sensitive text", `{"__ptype":"Sensitive","__pvalue":"s"}`, `{"__ptype":"Sensitive","__pvalue":"s"}`, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			wrap := func(v string) string {
				return `{"tags":[],"name":"n","version":null,"code_id":null,"catalog_uuid":null,"catalog_format":2,"environment":"e","resources":[{"type":"Rich","title":"r","tags":[],"exported":false,"parameters":{"x":` + v + `}}],"edges":[],"classes":[]}`
			}
			rich := from(t, "catalog", wrap(tt.value))
			plain, warnings := model.Plain(rich)
			if got := text(t, plain); got != wrap(tt.want) {
				t.Errorf("\ngot  %s\nwant %s", got, wrap(tt.want))
			}
			if got := append(warnings, "")[0]; got != tt.warning {
				t.Errorf("warning:\ngot  %s\nwant %s", got, tt.warning)
			}
			if text(t, rich) != wrap(tt.value) {
				t.Error("the instance itself was changed")
			}
		})
	}
}
