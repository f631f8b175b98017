package sim

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
)

const (
	defaultDimensions = 1024
	maxDimensions     = 8192
	maxRows           = 2048
	maxNumbers        = 4 << 20 // of one answer
)

// rows are the texts to embed: a string, strings, or tokens (one or several lists of integers).
func (r *request) rows() ([]string, error) {
	if len(r.Input) == 0 {
		return nil, errors.New("you must provide an input parameter")
	}
	if r.Input[0] == '"' {
		return []string{contentText(r.Input)}, nil
	}
	var list []json.RawMessage
	if json.Unmarshal(r.Input, &list) != nil || len(list) == 0 {
		return nil, errors.New("input must be a string or an array that is not empty")
	}
	if len(list) > maxRows {
		return nil, fmt.Errorf("input has %d rows: at most %d", len(list), maxRows)
	}
	if c := list[0][0]; c != '"' && c != '[' {
		return []string{string(r.Input)}, nil
	}
	rows := make([]string, len(list))
	for i, raw := range list {
		if rows[i] = string(raw); raw[0] == '"' {
			rows[i] = contentText(raw)
		}
	}
	return rows, nil
}

// vector is a unit vector that its text alone decides.
func vector(text string, dimensions int) []float32 {
	h := uint64(fnvOffset)
	for i := range len(text) {
		h = (h ^ uint64(text[i])) * fnvPrime
	}
	rng := rand.New(rand.NewPCG(h, 0))
	v := make([]float32, dimensions)
	var norm float64
	for i := range v {
		x := rng.NormFloat64()
		v[i] = float32(x)
		norm += x * x
	}
	scale := float32(1 / math.Sqrt(norm))
	for i := range v {
		v[i] *= scale
	}
	return v
}

type embedding struct {
	Object string `json:"object"`
	Index  int    `json:"index"`
	Vector any    `json:"embedding"` // numbers, or base64 of little-endian float32
}

// embeddingsWhole is the body of an embeddings answer.
func embeddingsWhole(a *answer, rows []string, dimensions int, encoding string) []byte {
	data := make([]embedding, len(rows))
	for i, row := range rows {
		vec := vector(row, dimensions)
		data[i] = embedding{Object: "embedding", Index: i, Vector: vec}
		if encoding == "base64" {
			raw := make([]byte, 0, 4*len(vec))
			for _, x := range vec {
				raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(x))
			}
			data[i].Vector = base64.StdEncoding.EncodeToString(raw)
		}
	}
	type embeddingUsage struct {
		Prompt int `json:"prompt_tokens"`
		Total  int `json:"total_tokens"`
	}
	return marshal(struct {
		Object string         `json:"object"`
		Data   []embedding    `json:"data"`
		Model  string         `json:"model"`
		Usage  embeddingUsage `json:"usage"`
	}{"list", data, a.model, embeddingUsage{a.in, a.in}})
}
