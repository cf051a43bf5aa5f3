package stdlib

import (
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/binary"
	"encoding/hex"
	"math/big"
	"strconv"
	"strings"

	"indirtui/indirector/data"
	"indirtui/indirector/language/eval"
	"indirtui/indirector/language/fn"
)

// randoms are functions that need random numbers, and those of sums. Rule LANG-STD-04.
func randoms() map[string]older {
	return map[string]older{
		"fqdn_rand_string": {least: 1, wrong: "fqdn_rand_string(): Wrong number of arguments given (%d for minimum 1)", do: fqdnRandString},
		"fqdn_rotate":      {least: 1, wrong: "fqdn_rotate(): Wrong number of arguments given (%d for 1)", do: fqdnRotate},
		"fqdn_uuid":        {do: fqdnUUID},
		"seeded_rand":      {least: 2, most: 2, wrong: "seeded_rand(): Wrong number of arguments given (%d for 2)", do: seededRand},
		"shuffle":          {least: 1, wrong: "shuffle(): Wrong number of arguments given (%d for 1)", do: shuffle},
		"str2saltedsha512": {least: 1, most: 1, wrong: "str2saltedsha512(): Wrong number of arguments passed (%d but we require 1)", do: saltedSHA512},
	}
}

// positive reports whether a value is an integer above 0, or a text that is one.
func (c *call) positive(v data.Value) (int64, bool) {
	is, err := c.older("is_integer", v)
	n := fn.LeadingInteger(v)
	return n, err == nil && is.Bool() && n > 0
}

func fqdnRandString(c *call) (data.Value, error) {
	length, ok := c.positive(c.Args[0])
	if !ok {
		return undef, eval.Errorf("fqdn_rand_string(): first argument must be a positive integer")
	}
	if v := c.Arg(1); !v.IsNil() && !isString(v) {
		return undef, eval.Errorf("fqdn_rand_string(): second argument must be undef or a string")
	}
	set := []rune(c.Arg(1).Str())
	if len(set) == 0 {
		set = []rune("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz")
	}
	var seeds []string
	if len(c.Args) > 2 {
		for _, v := range eval.Flatten(c.Args[2:]) {
			seeds = append(seeds, v.Text())
		}
	}
	var out []rune
	for i := range length {
		seed := strings.Join(append(seeds[:len(seeds):len(seeds)], strconv.FormatInt(i+1, 10)), ":")
		at, err := c.function("fqdn_rand", data.OfInt(int64(len(set))), str(seed))
		if err == nil {
			err = c.Spend(4)
		}
		if err == nil {
			err = c.Step()
		}
		if err != nil {
			return undef, err
		}
		out = append(out, set[fn.LeadingInteger(at)])
	}
	return str(string(out)), nil
}

// md5Seed is the seed that a text makes.
func md5Seed(s string) *big.Int {
	sum := md5.Sum([]byte(s))
	return new(big.Int).SetBytes(sum[:])
}

func fqdnRotate(c *call) (data.Value, error) {
	v := c.Args[0]
	if !isList(v) && !isString(v) {
		return undef, refusef("fqdn_rotate(): Requires either array or string to work with")
	}
	l := parts(v)
	if len(l) <= 1 {
		return v, nil
	}
	fqdn, _ := c.Variable("::fqdn")
	var seeds []string
	for _, w := range eval.Flatten(c.Args[1:]) {
		seeds = append(seeds, w.Text())
	}
	seed := md5Seed(fqdn.Text() + ":" + strings.Join(seeds, ":")) // with a colon also if there are none
	at := fn.NewRandom(seed).Below(uint64(len(l)))
	return whole(v, append(append([]data.Value{}, l[at:]...), l[:at]...)), nil
}

// parts returns the elements of a list, or the characters of a string; whole makes the
// one or the other of them again.
func parts(v data.Value) []data.Value {
	if isList(v) {
		return v.List()
	}
	var out []data.Value
	for _, r := range v.Str() {
		out = append(out, str(string(r)))
	}
	return out
}

func whole(like data.Value, l []data.Value) data.Value {
	if isList(like) {
		return data.OfList(l)
	}
	var b strings.Builder
	for _, v := range l {
		b.WriteString(v.Str())
	}
	return str(b.String())
}

func fqdnUUID(c *call) (data.Value, error) {
	switch n := len(c.Args); {
	case n == 0:
		return undef, eval.Errorf("fqdn_uuid: No arguments given")
	case n != 1:
		return undef, eval.Errorf("fqdn_uuid: Too many arguments given (%d)", n)
	case !isString(c.Args[0]):
		return undef, eval.Errorf("%s", eval.NoString(c.Args[0]))
	}
	space, _ := hex.DecodeString("6ba7b8109dad11d180b400c04fd430c8") // of names in the DNS, RFC 4122
	sum := sha1.Sum(append(space, c.Args[0].Str()...))
	id := sum[:16]
	id[6] = id[6]&0x0f | 0x50
	id[8] = id[8]&0x3f | 0x80
	s := hex.EncodeToString(id)
	return str(strings.Join([]string{s[:8], s[8:12], s[12:16], s[16:20], s[20:]}, "-")), nil
}

func seededRand(c *call) (data.Value, error) {
	below, ok := c.positive(c.Args[0])
	if !ok {
		return undef, eval.Errorf("seeded_rand(): first argument must be a positive integer")
	}
	if !isString(c.Args[1]) {
		return undef, eval.Errorf("seeded_rand(): second argument must be a string")
	}
	return data.OfInt(int64(fn.NewRandom(md5Seed(c.Args[1].Str())).Below(uint64(below)))), nil
}

// seededRandString is of Puppet's newer kind.
func seededRandString(c *call) (data.Value, error) {
	set := []rune(c.Arg(2).Str())
	if len(set) == 0 {
		set = []rune("0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
	}
	sum := sha256.Sum256([]byte(c.Args[1].Str()))
	random := fn.NewRandom(new(big.Int).SetBytes(sum[:]))
	var out []rune
	for range c.Args[0].Int() {
		if err := c.Step(); err != nil {
			return undef, err
		}
		out = append(out, set[random.Below(uint64(len(set)))])
	}
	return str(string(out)), nil
}

func shuffle(c *call) (data.Value, error) {
	v := c.Args[0]
	if !isList(v) && !isString(v) {
		return undef, refusef("shuffle(): Requires either array or string to work with")
	}
	l := append([]data.Value{}, parts(v)...)
	for i := range l {
		j := i + int(c.set.Random(int64(len(l)-i)))
		l[i], l[j] = l[j], l[i]
	}
	return whole(v, l), nil
}

func saltedSHA512(c *call) (data.Value, error) {
	if !isString(c.Args[0]) {
		return undef, refusef("str2saltedsha512(): Requires a String argument, you passed: %s", eval.ClassName(c.Args[0]))
	}
	salt := binary.LittleEndian.AppendUint32(nil, uint32(c.set.Random(1<<31-1)))
	sum := sha512.Sum512(append(salt, c.Args[0].Str()...))
	return str(hex.EncodeToString(append(salt, sum[:]...))), nil
}
