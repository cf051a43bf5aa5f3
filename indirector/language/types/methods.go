package types

func (t plain) String() string          { return expanded(t) }
func (t integerType) String() string    { return plainly(t) }
func (t floatType) String() string      { return plainly(t) }
func (t stringType) String() string     { return plainly(t) }
func (t enumType) String() string       { return plainly(t) }
func (t patternType) String() string    { return plainly(t) }
func (t regexpType) String() string     { return plainly(t) }
func (t booleanType) String() string    { return plainly(t) }
func (t timestampType) String() string  { return plainly(t) }
func (t timespanType) String() string   { return plainly(t) }
func (t versionType) String() string    { return plainly(t) }
func (t uriType) String() string        { return plainly(t) }
func (t collectionType) String() string { return plainly(t) }
func (t arrayType) String() string      { return plainly(t) }
func (t hashType) String() string       { return plainly(t) }
func (t tupleType) String() string      { return plainly(t) }
func (t structType) String() string     { return plainly(t) }
func (t variantType) String() string    { return plainly(t) }
func (t containedType) String() string  { return plainly(t) }
func (t initType) String() string       { return plainly(t) }
func (t callableType) String() string   { return plainly(t) }
func (t classType) String() string      { return plainly(t) }
func (t resourceType) String() string   { return plainly(t) }
func (t runtimeType) String() string    { return plainly(t) }
func (t referenceType) String() string  { return plainly(t) }
func (t *aliasType) String() string     { return expanded(t) }
func (t extendedType) String() string   { return plainly(t) }

// String returns the definition.
func (t *definedType) String() string {
	p := printer{objects: true}
	t.print(&p)
	return string(p.b)
}

func (t plain) Equal(o Type) bool          { return equal(t, o) }
func (t integerType) Equal(o Type) bool    { return equal(t, o) }
func (t floatType) Equal(o Type) bool      { return equal(t, o) }
func (t stringType) Equal(o Type) bool     { return equal(t, o) }
func (t enumType) Equal(o Type) bool       { return equal(t, o) }
func (t patternType) Equal(o Type) bool    { return equal(t, o) }
func (t regexpType) Equal(o Type) bool     { return equal(t, o) }
func (t booleanType) Equal(o Type) bool    { return equal(t, o) }
func (t timestampType) Equal(o Type) bool  { return equal(t, o) }
func (t timespanType) Equal(o Type) bool   { return equal(t, o) }
func (t versionType) Equal(o Type) bool    { return equal(t, o) }
func (t uriType) Equal(o Type) bool        { return equal(t, o) }
func (t collectionType) Equal(o Type) bool { return equal(t, o) }
func (t arrayType) Equal(o Type) bool      { return equal(t, o) }
func (t hashType) Equal(o Type) bool       { return equal(t, o) }
func (t tupleType) Equal(o Type) bool      { return equal(t, o) }
func (t structType) Equal(o Type) bool     { return equal(t, o) }
func (t variantType) Equal(o Type) bool    { return equal(t, o) }
func (t containedType) Equal(o Type) bool  { return equal(t, o) }
func (t initType) Equal(o Type) bool       { return equal(t, o) }
func (t callableType) Equal(o Type) bool   { return equal(t, o) }
func (t classType) Equal(o Type) bool      { return equal(t, o) }
func (t resourceType) Equal(o Type) bool   { return equal(t, o) }
func (t runtimeType) Equal(o Type) bool    { return equal(t, o) }
func (t referenceType) Equal(o Type) bool  { return equal(t, o) }
func (t *aliasType) Equal(o Type) bool     { return equal(t, o) }
func (t *definedType) Equal(o Type) bool   { return equal(t, o) }
func (t extendedType) Equal(o Type) bool   { return equal(t, o) }
