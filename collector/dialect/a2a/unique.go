package a2a

// uuidForm is the form of a UUID: x stands for a hexadecimal digit.
const uuidForm = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx"

// uuidDigits is the number of digits of a UUID. A longer number without dashes, as in the IDs of OpenAI, is just as unique.
const uuidDigits = 32

// isUnique reports whether an ID is the same everywhere: it contains a UUID, such as run-UUID-0, or as many hexadecimal digits in a row.
func isUnique(id string) bool {
	digits := 0
	for i := range len(id) {
		if digits++; !isHex(id[i]) {
			digits = 0
		}
		if digits >= uuidDigits || startsWithUUID(id[i:]) {
			return true
		}
	}
	return false
}

func startsWithUUID(id string) bool {
	if len(id) < len(uuidForm) {
		return false
	}
	for i := range len(uuidForm) {
		if uuidForm[i] == '-' && id[i] != '-' || uuidForm[i] == 'x' && !isHex(id[i]) {
			return false
		}
	}
	return true
}

func isHex(c byte) bool { return '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'f' }
