package resolver

import (
	"compress/gzip"
	"encoding/csv"
	"os"
	"strconv"
	"strings"
	"testing"
)

// hasCode reads a list such as "75 80 90a 100f": README.md's own rule.
func hasCode(list, cc string) bool {
	for _, word := range strings.Fields(list) {
		digits := strings.TrimRight(word, "af")
		major, minor := digits[:len(digits)-1], digits[len(digits)-1:]
		if strings.HasSuffix(word, "a") {
			if major+"."+minor == cc {
				return true
			}
			continue
		}
		if strings.HasPrefix(cc, major+".") && minor <= cc[len(cc)-1:] && !(major == "8" && cc == "8.7") {
			return true
		}
	}
	return false
}

func hasPTX(list, cc string) bool {
	for _, word := range strings.Fields(list) {
		digits := strings.TrimRight(word, "af")
		n, _ := strconv.Atoi(digits)
		if device := number(cc, 0)*10 + number(cc, 1); n <= device && (!strings.HasSuffix(word, "f") || n/10 == device/10) {
			return true
		}
	}
	return false
}

func numbers(v string) []int {
	var out []int
	n, digits := 0, false
	for i := range len(v) + 1 {
		if i < len(v) && v[i] >= '0' && v[i] <= '9' {
			n, digits = n*10+int(v[i]-'0'), true
		} else if digits {
			out, n, digits = append(out, n), 0, false
		}
	}
	return out
}

func number(v string, i int) int {
	if n := numbers(v); i < len(n) {
		return n[i]
	}
	return 0
}

// newerNumbers compares versions as lists of numbers.
func newerNumbers(a, b string) bool {
	x, y := numbers(a), numbers(b)
	for i := range max(len(x), len(y)) {
		p, q := 0, 0
		if i < len(x) {
			p = x[i]
		}
		if i < len(y) {
			q = y[i]
		}
		if p != q {
			return p > q
		}
	}
	return false
}

func readJudge(t testing.TB) *judge {
	j := &judge{floors: map[string]map[string]string{}, gens: map[string]map[string]string{}, cudnn: map[string]map[string]string{}, stack: map[string]string{}}
	j.builds = readTable(t, "variants")
	for _, b := range j.builds {
		b["glibc_floor"] = strings.TrimSpace(b["glibc_floor"])
	}
	for _, r := range readTable(t, "driver_minimums") {
		j.floors[r["variant"]] = r
	}
	for _, r := range readTable(t, "driver_branches") {
		if r["cuda_reported"] != "" {
			j.branches = append(j.branches, r)
		}
	}
	for _, r := range readTable(t, "cc_support") {
		j.gens[r["cc"]] = r
	}
	for _, r := range readTable(t, "stack_cubins") {
		if cu, ok := strings.CutPrefix(r["package"], "nvidia-cudnn-cu"); ok && strings.Contains(r["library"], "cudnn_ops") {
			arch := "x86_64"
			if strings.Contains(r["wheel_platform"], "aarch64") {
				arch = "aarch64"
			}
			j.cudnn[strings.TrimSuffix(r["version"], ".post1")+" "+cu+" "+arch] = r
		}
	}
	for _, r := range readTable(t, "whole_stack") {
		for _, cc := range strings.Split(strings.Fields(r["gpu"])[0], "/") {
			j.stack[r["torch"]+" "+r["variant"]+" "+r["arch"]+" "+cc] = r["core_stack"]
		}
	}
	return j
}

func readTable(t testing.TB, name string) []map[string]string {
	f, err := os.Open("testdata/judge/" + name + ".csv.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(z).ReadAll()
	if err != nil || len(rows) < 2 {
		t.Fatalf("%s: %d rows, %v", name, len(rows), err)
	}
	var out []map[string]string
	for _, row := range rows[1:] {
		m := map[string]string{}
		for i, v := range row {
			m[rows[0][i]] = v
		}
		out = append(out, m)
	}
	return out
}
