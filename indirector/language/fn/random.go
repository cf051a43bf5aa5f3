package fn

import (
	"crypto/md5"
	"encoding/binary"
	"encoding/hex"
	"math/big"
	"math/bits"
	"strconv"
	"strings"

	"indirtui/indirector/data"
	"indirtui/indirector/language/eval"
)

// fqdnRand returns a number below a bound that is the same for a node whenever it is
// asked for. Rule LANG-STD-04.
func fqdnRand(c *eval.Invocation) (data.Value, error) {
	if err := atLeastOne(c, "fqdn_rand"); err != nil {
		return undef, err
	}
	below := LeadingInteger(c.Args[0])
	facts, _ := c.Variable("facts")
	fqdn := facts.Dig("networking", "fqdn").Text()
	if c.Arg(2).Truthy() {
		fqdn = strings.ToLower(fqdn)
	}
	words := []string{fqdn, strconv.FormatInt(below, 10), c.Arg(1).Text()}
	sum := md5.Sum([]byte(strings.Join(words, ":")))
	if below <= 0 {
		return undef, eval.Errorf("invalid argument - %d", below)
	}
	seed, _ := new(big.Int).SetString(hex.EncodeToString(sum[:]), 16)
	return data.OfInt(int64(NewRandom(seed).Below(uint64(below)))), nil
}

// LeadingInteger reads the number that a text begins with, as Ruby's to_i does.
func LeadingInteger(v data.Value) int64 {
	switch v.Kind() {
	case data.Int:
		return v.Int()
	case data.Float:
		return int64(v.Float())
	}
	s := strings.TrimSpace(v.Str())
	end := 0
	for end < len(s) && (s[end] >= '0' && s[end] <= '9' || end == 0 && (s[0] == '-' || s[0] == '+')) {
		end++
	}
	n, _ := strconv.ParseInt(s[:end], 10, 64)
	return n
}

// A Random makes the random numbers that Ruby makes of a seed: MT19937, seeded with an
// array. It is for one goroutine.
type Random struct {
	state [624]uint32
	next  int
}

// NewRandom returns the numbers of a seed that is not negative.
func NewRandom(seed *big.Int) *Random {
	bytes := seed.FillBytes(make([]byte, max(1, (seed.BitLen()+31)/32)*4))
	key := make([]uint32, len(bytes)/4) // the lowest first
	for i := range key {
		key[i] = binary.BigEndian.Uint32(bytes[len(bytes)-4*(i+1):])
	}
	t := &Random{next: 624}
	s := &t.state
	s[0] = 19650218
	for i := 1; i < len(s); i++ {
		s[i] = 1812433253*(s[i-1]^s[i-1]>>30) + uint32(i)
	}
	i, j := 1, 0
	turn := func() {
		if i++; i == len(s) {
			s[0], i = s[len(s)-1], 1
		}
	}
	for range max(len(s), len(key)) {
		s[i] = (s[i] ^ (s[i-1]^s[i-1]>>30)*1664525) + key[j] + uint32(j)
		turn()
		j = (j + 1) % len(key)
	}
	for range len(s) - 1 {
		s[i] = (s[i] ^ (s[i-1]^s[i-1]>>30)*1566083941) - uint32(i)
		turn()
	}
	s[0] = 1 << 31
	return t
}

func (t *Random) uint32() uint32 {
	s := &t.state
	if t.next == len(s) {
		t.next = 0
		for i := range s {
			y := s[i]&(1<<31) | s[(i+1)%len(s)]&(1<<31-1)
			s[i] = s[(i+397)%len(s)] ^ y>>1 ^ -(y&1)&0x9908b0df
		}
	}
	y := s[t.next]
	t.next++
	y ^= y >> 11
	y ^= y << 7 & 0x9d2c5680
	y ^= y << 15 & 0xefc60000
	return y ^ y>>18
}

// Below returns a number below a bound, which is not 0: as many bits as that needs, until they are low
// enough.
func (t *Random) Below(bound uint64) uint64 {
	limit := bound - 1
	kept := uint64(1)<<bits.Len64(limit) - 1
retry:
	for {
		out := uint64(0)
		for i := 1; i >= 0; i-- {
			if kept>>(32*i)&0xffffffff == 0 {
				continue
			}
			out |= uint64(t.uint32()) << (32 * i) & kept
			if limit < out {
				continue retry
			}
		}
		return out
	}
}
