package rich_test

import (
	"testing"

	"indirtui/indirector/rich"
)

// Times in formats, as real Puppet 7.23 reads them. Rule LANG-NEW-03.
func TestFormats(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ text, format, zone, want string }{
		{"2021 Mar 4 PM7", "%Y %b %e %p%I", "CET", "2021-03-04T18:00:00.000000000 UTC"},
		{"02/03/20/1999", "%D/%Y", "", "3999-02-03T00:00:00.000000000 UTC"},
		{"2021-1-2 +01", "%Y-%m-%d %z", "", "2021-01-01T23:00:00.000000000 UTC"},
		{"2021 +01", "%Y %z", "CET", "Using a Timezone designator in format specification is mutually exclusive to providing an explicit timezone argument"},
		{"2021-01-02", "%F", "nope", "Illegal timezone 'nope'"},
		{"2021x", "%Y", "", "Unable to parse '2021x' using format '%Y'"},
		{"20210203", "%Y%m%d", "", "2021-02-03T00:00:00.000000000 UTC"},
		{"5", "%H", "", "can't convert nil into an exact number"},
	} {
		got, err := rich.ParseTimestampBy(tt.text, []string{tt.format}, false, tt.zone)
		text := rich.FormatTimestamp(got)
		if err != nil {
			text = err.Error()
		}
		if text != tt.want {
			t.Errorf("timestamp %q by %q in %q: got %s, want %s", tt.text, tt.format, tt.zone, text, tt.want)
		}
	}
	for _, tt := range []struct{ text, format, want string }{
		{"10:30", "%H:%M", "0-10:30:00.0"},
		{"-1-05", "%D-%H", "-1-05:00:00.0"},
		{"100:99", "%H:%M", "4-05:39:00.0"},
		{"   7.25", "%_4S.%L", "0-00:00:07.25"},
		{"5", "%L", "Format specifiers %L and %N denotes fractions and must be used together with a specifier of higher magnitude"},
		{"x", "%H", "Unable to parse 'x' using format '%H'"},
		{"1", "%5_D", "Bad format specifier '%5' in '%5_D', at position 2"},
		{"1", "%D%", "Bad format specifier '' in '%D%', at position 2"},
	} {
		got, err := rich.ParseTimespanBy(tt.text, []string{tt.format}, false)
		text := got.String()
		if err != nil {
			text = err.Error()
		}
		if text != tt.want {
			t.Errorf("timespan %q by %q: got %s, want %s", tt.text, tt.format, text, tt.want)
		}
	}
}
