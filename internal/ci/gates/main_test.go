package main

import (
	"testing"

	"golang.org/x/tools/go/analysis/analysistest"
)

func TestGates(t *testing.T) { analysistest.Run(t, analysistest.TestData(), gates, "envfix/a") }
