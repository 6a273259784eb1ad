package strictjson

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
)

// corpus returns typical input and its mean size. The input is serialized as by ADK: 70 % partial text
// events, 20 % tool events, and 10 % function responses of 2 to 4 KB.
func corpus() (docs [][]byte, size int64) {
	random := rand.New(rand.NewPCG(1, 2))
	for i := range 1000 {
		var doc string
		switch {
		case i%10 < 7:
			doc = textEvent(random)
		case i%10 < 9:
			doc = toolEvent(random)
		default:
			doc = responseEvent(random)
		}
		docs = append(docs, []byte(doc))
		size += int64(len(doc))
	}
	random.Shuffle(len(docs), func(i, j int) { docs[i], docs[j] = docs[j], docs[i] })
	return docs, size / int64(len(docs))
}

var vocabulary = strings.Fields(`the fire burned 130,000 acres of Douglas-fir along the ridge above
	Waldo Lake and trails remain closed (see \"MTBS\") until crews have cleared them. **Confidence:** 92%
	severity – moderate, élevé … next steps:\n1.\n2. assess culverts, bridges and signs`)

func words(random *rand.Rand, size int) string {
	var b strings.Builder
	for b.Len() < size {
		b.WriteString(vocabulary[random.IntN(len(vocabulary))])
		b.WriteByte(' ')
	}
	return b.String()
}

func id(random *rand.Rand) string {
	return fmt.Sprintf("%08x-%04x-4%03x-%012x", random.Uint32(), random.IntN(1<<16), random.IntN(1<<12), random.Int64N(1<<48))
}

func tail(random *rand.Rand, author string) string {
	return fmt.Sprintf(`"invocationId":"e-%s","author":"%s","actions":{"stateDelta":{},"artifactDelta":{},"requestedAuthConfigs":{}},"id":"%s","timestamp":%.6f}`,
		id(random), author, id(random), 1767081391+random.Float64()*1000)
}

func textEvent(random *rand.Rand) string {
	usage := ""
	if random.IntN(2) == 0 {
		usage = fmt.Sprintf(`"usageMetadata":{"candidatesTokenCount":%d,"promptTokenCount":%d,"totalTokenCount":%d},"modelVersion":"gemini-2.0-flash",`,
			random.IntN(500), random.IntN(5000), random.IntN(5500))
	}
	return fmt.Sprintf(`{"content":{"parts":[{"text":"%s"}],"role":"model"},"partial":true,%s`, words(random, 10+random.IntN(120)), usage) + tail(random, "coordinator")
}

func toolEvent(random *rand.Rand) string {
	return fmt.Sprintf(`{"modelVersion":"gemini-2.0-flash","content":{"parts":[{"functionCall":{"id":"adk-%s","args":{"request":"%s"},"name":"burn_analyst"}}],"role":"model"},"finishReason":"STOP","usageMetadata":{"candidatesTokenCount":52,"promptTokenCount":%d,"totalTokenCount":1862},"avgLogprobs":-0.0021,"longRunningToolIds":[],`,
		id(random), words(random, 80), random.IntN(5000)) + tail(random, "coordinator")
}

func responseEvent(random *rand.Rand) string {
	return fmt.Sprintf(`{"content":{"parts":[{"functionResponse":{"id":"adk-%s","name":"trail_assessor","response":{"result":"%s","proof_layer":{"confidence":0.9,"citations":[{"source":"%s","reference":"2022-10-25"},{"source":"MTBS","reference":null}],"reasoning_chain":["%s","%s"],"acres":[130000,42.5,-7]}}}}],"role":"user"},`,
		id(random), words(random, 1300+random.IntN(2000)), words(random, 40), words(random, 60), words(random, 60)) + tail(random, "coordinator")
}

// BenchmarkParse measures a typical document.
func BenchmarkParse(b *testing.B) {
	docs, size := corpus()
	b.SetBytes(size)
	b.ReportAllocs()
	var d Doc
	for i := 0; b.Loop(); i++ {
		if err := d.Parse(docs[i%len(docs)], 128); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkIsValid is the baseline for BenchmarkParse.
func BenchmarkIsValid(b *testing.B) {
	docs, size := corpus()
	b.SetBytes(size)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		if !jsontext.Value(docs[i%len(docs)]).IsValid() {
			b.Fatal("not valid")
		}
	}
}

// BenchmarkHostile measures the cost per byte of inputs that are meant to be slow.
func BenchmarkHostile(b *testing.B) {
	for name, doc := range hostile(1 << 20) {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(doc)))
			var d Doc
			for b.Loop() {
				_ = d.Parse(doc, 128)
			}
		})
	}
}
