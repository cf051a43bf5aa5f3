package model_test

import (
	"testing"

	"indirtui/indirector/data"
	"indirtui/indirector/model"
)

func TestSanitizeFacts(t *testing.T) {
	t.Parallel()
	in := data.OfHash([]data.Pair{
		data.P("nil", data.Value{}),
		data.P("list", data.OfList([]data.Value{data.OfSymbol("s"), data.OfBool(true), data.OfFloat(1.5), {}})),
		{Key: data.OfInt(1), Value: data.OfHash([]data.Pair{{Key: data.OfSymbol("k"), Value: data.OfInt(2)}})},
	})
	if got, want := model.SanitizeFacts(in).String(), `{"nil"=>"", "list"=>["s", true, 1.5, ""], 1=>{"k"=>2}}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
