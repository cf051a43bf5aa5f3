package stdlib

import (
	"bytes"
	"crypto/md5"
	"crypto/sha256"
	"crypto/sha512"
	"hash"
	"strconv"
	"strings"

	"golang.org/x/crypto/blowfish" //lint:ignore SA1019 bcrypt is made of it

	"indirtui/indirector/language/eval"
)

// This file is crypt(3) as far as the function pw_hash needs it.

// crypt returns the notation of a password that was hashed with a salt.
func crypt(prefix, password, salt string) (string, error) {
	switch prefix {
	case "1":
		salt = salt[:min(8, len(salt))]
		return "$1$" + salt + "$" + md5Crypt([]byte(password), []byte(salt)), nil
	case "5":
		salt = salt[:min(16, len(salt))]
		return "$5$" + salt + "$" + ordered(shaCrypt(sha256.New, []byte(password), []byte(salt)), order256), nil
	case "6":
		salt = salt[:min(16, len(salt))]
		return "$6$" + salt + "$" + ordered(shaCrypt(sha512.New, []byte(password), []byte(salt)), order512), nil
	case "2x":
		return "", eval.Unsupported("pw_hash(): hashes of the kind bcrypt-x")
	}
	return bcrypt(prefix, password, salt)
}

const cryptDigits = "./0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

// sum returns the sum of several parts.
func sum(of func() hash.Hash, parts ...[]byte) []byte {
	h := of()
	for _, p := range parts {
		h.Write(p)
	}
	return h.Sum(nil)
}

// stretched repeats bytes until there are so many.
func stretched(b []byte, n int) []byte {
	if len(b) == 0 {
		return nil
	}
	return bytes.Repeat(b, n/len(b)+1)[:n]
}

func md5Crypt(password, salt []byte) string {
	inner := sum(md5.New, password, salt, password)
	start := [][]byte{password, []byte("$1$"), salt, stretched(inner, len(password))}
	for n := len(password); n > 0; n >>= 1 {
		if n&1 == 1 {
			start = append(start, []byte{0})
		} else {
			start = append(start, password[:1])
		}
	}
	out := sum(md5.New, start...)
	for i := range 1000 {
		out = round(md5.New, i, out, password, salt)
	}
	return ordered(out, orderMD5)
}

// round is one of many: the password and what the last one made, in an order that its
// number decides.
func round(of func() hash.Hash, i int, last, password, salt []byte) []byte {
	first, final := last, password
	if i&1 == 1 {
		first, final = password, last
	}
	parts := [][]byte{first}
	if i%3 != 0 {
		parts = append(parts, salt)
	}
	if i%7 != 0 {
		parts = append(parts, password)
	}
	return sum(of, append(parts, final)...)
}

func shaCrypt(of func() hash.Hash, password, salt []byte) []byte {
	inner := sum(of, password, salt, password)
	start := [][]byte{password, salt, stretched(inner, len(password))}
	for n := len(password); n > 0; n >>= 1 {
		if n&1 == 1 {
			start = append(start, inner)
		} else {
			start = append(start, password)
		}
	}
	out := sum(of, start...)
	p := stretched(sum(of, bytes.Repeat(password, len(password))), len(password))
	s := stretched(sum(of, bytes.Repeat(salt, 16+int(out[0]))), len(salt))
	for i := range 5000 {
		out = round(of, i, out, p, s)
	}
	return out
}

// Orders of bytes, three for each four digits; the last have fewer.
var (
	orderMD5 = []int{0, 6, 12, 1, 7, 13, 2, 8, 14, 3, 9, 15, 4, 10, 5, 11}
	order256 = []int{
		0, 10, 20, 21, 1, 11, 12, 22, 2, 3, 13, 23, 24, 4, 14, 15, 25, 5, 6, 16, 26, 27, 7, 17, 18, 28, 8, 9, 19, 29, 31, 30,
	}
	order512 = []int{
		0, 21, 42, 22, 43, 1, 44, 2, 23, 3, 24, 45, 25, 46, 4, 47, 5, 26, 6, 27, 48, 28, 49, 7, 50, 8, 29, 9, 30, 51, 31, 52, 10,
		53, 11, 32, 12, 33, 54, 34, 55, 13, 56, 14, 35, 15, 36, 57, 37, 58, 16, 59, 17, 38, 18, 39, 60, 40, 61, 19, 62, 20, 41, 63,
	}
)

// ordered writes bytes in an order by digits, the lowest first.
func ordered(b []byte, order []int) string {
	var out strings.Builder
	for i := 0; i < len(order); i += 3 {
		n, digits := uint(0), 0
		for _, at := range order[i:min(i+3, len(order))] {
			n = n<<8 | uint(b[at])
			digits += 8
		}
		for ; digits > 0; digits -= 6 {
			out.WriteByte(cryptDigits[n&63])
			n >>= 6
		}
	}
	return out.String()
}

const bcryptDigits = "./ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"

// bcrypt hashes with a salt of the form 12$ and 22 digits.
func bcrypt(prefix, password, salt string) (string, error) {
	cost, err := strconv.Atoi(salt[:2])
	if err != nil || cost < 4 || cost > 31 {
		return "", eval.Errorf("Invalid argument - crypt")
	}
	if cost > 16 {
		return "", eval.Unsupported("pw_hash(): costs of bcrypt above 16")
	}
	digits := salt[3:25]
	raw := bcryptBytes(digits)
	key := append([]byte(password), 0)
	key = key[:min(72, len(key))]
	cipher, err := blowfish.NewSaltedCipher(key, raw)
	if err != nil {
		return "", err
	}
	for range 1 << cost {
		blowfish.ExpandKey(key, cipher)
		blowfish.ExpandKey(raw, cipher)
	}
	text := []byte("OrpheanBeholderScryDoubt")
	for i := 0; i < len(text); i += 8 {
		for range 64 {
			cipher.Encrypt(text[i:i+8], text[i:i+8])
		}
	}
	return "$" + prefix + "$" + salt[:3] + bcryptText(raw) + bcryptText(text[:23]), nil
}

func bcryptBytes(s string) []byte {
	var out []byte
	n, bits := uint(0), 0
	for i := range len(s) {
		n = n<<6 | uint(strings.IndexByte(bcryptDigits, s[i]))
		if bits += 6; bits >= 8 {
			bits -= 8
			out = append(out, byte(n>>bits))
		}
	}
	return out
}

func bcryptText(b []byte) string {
	var out strings.Builder
	n, bits := uint(0), 0
	for _, c := range b {
		n, bits = n<<8|uint(c), bits+8
		for bits >= 6 {
			bits -= 6
			out.WriteByte(bcryptDigits[n>>bits&63])
		}
	}
	if bits > 0 {
		out.WriteByte(bcryptDigits[n<<(6-bits)&63])
	}
	return out.String()
}
