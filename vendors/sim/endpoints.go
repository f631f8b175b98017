package sim

import (
	"errors"
	"fmt"
)

// endpoint is one path that answers: how its answer streams, nil if it never does, and how it is whole.
type endpoint struct {
	prefix string // of answers' ids
	check  func(*request) error
	script func(a *answer, q *quirk, usage bool) script
	whole  func(a *answer, r *request) []byte
}

var endpoints = map[string]*endpoint{
	"chat/completions": {
		prefix: "chatcmpl-",
		check: func(r *request) error {
			if len(r.Messages) == 0 {
				return errors.New("messages must not be empty")
			}
			return nil
		},
		script: func(a *answer, q *quirk, usage bool) script { return &chatScript{a: a, q: q, usage: usage} },
		whole:  func(a *answer, _ *request) []byte { return chatWhole(a) },
	},
	"completions": {
		prefix: "cmpl-",
		check: func(r *request) error {
			if len(r.Prompt) == 0 {
				return errors.New("you must provide a prompt parameter")
			}
			return nil
		},
		script: func(a *answer, q *quirk, usage bool) script { return &completionScript{a: a, q: q, usage: usage} },
		whole:  func(a *answer, _ *request) []byte { return completionWhole(a) },
	},
	"responses": {
		prefix: "resp_",
		check: func(r *request) error {
			if len(r.Input) == 0 {
				return errors.New("you must provide an input parameter")
			}
			return nil
		},
		script: func(a *answer, _ *quirk, _ bool) script { return &responseScript{a: a} },
		whole:  func(a *answer, _ *request) []byte { return responseWhole(a) },
	},
	"embeddings": {
		check: func(r *request) error {
			if r.Dimensions < 0 || r.Dimensions > maxDimensions {
				return fmt.Errorf("dimensions %d: must be from 1 to %d", r.Dimensions, maxDimensions)
			}
			rows, err := r.rows()
			if dims := or(r.Dimensions, defaultDimensions); len(rows)*dims > maxNumbers {
				return fmt.Errorf("input of %d rows with %d dimensions each: at most %d numbers in all", len(rows), dims, maxNumbers)
			}
			return err
		},
		whole: func(a *answer, r *request) []byte {
			rows, _ := r.rows() // checked
			return embeddingsWhole(a, rows, or(r.Dimensions, defaultDimensions), r.EncodingFormat)
		},
	},
}
