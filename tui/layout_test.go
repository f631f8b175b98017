package tui

import (
	"fmt"
	"testing"
)

func TestLayout_TilesTheScreenWithoutOverlap(t *testing.T) {
	for w := 1; w <= 250; w += 13 {
		for h := 1; h <= 80; h += 5 {
			for n := 0; n <= 6; n++ {
				for _, top := range []Top{TopNothing, TopWelcome, TopDrill} {
					for _, zoom := range []bool{false, true} {
						s := Shape{W: w, H: h, Vendors: n, Selected: n - 1, Top: top, Banner: h%2 == 0, Zoom: zoom}
						if err := tiles(Compute(s)); err != nil {
							t.Fatalf("%+v: %v", s, err)
						}
					}
				}
			}
		}
	}
}

// tiles checks that no two areas share a cell and none leaves the screen.
func tiles(l Layout) error {
	taken := make([]bool, l.W*l.H)
	areas := append([]Rect{l.Header, l.Banner, l.Top, l.Events, l.Footer}, l.Panels...)
	for _, r := range areas {
		if r.W == 0 || r.H == 0 {
			continue
		}
		if r.X < 0 || r.Y < 0 || r.X+r.W > l.W || r.Y+r.H > l.H || r.W < 0 || r.H < 0 {
			return fmt.Errorf("%+v leaves the screen", r)
		}
		for y := r.Y; y < r.Y+r.H; y++ {
			for x := r.X; x < r.X+r.W; x++ {
				if taken[y*l.W+x] {
					return fmt.Errorf("%+v overlaps another area at %d,%d", r, x, y)
				}
				taken[y*l.W+x] = true
			}
		}
	}
	for i, s := range l.Sliders {
		if p := l.Panels[i]; s.W > 0 && (s.X < p.X || s.X+s.W > p.X+p.W || s.Y < p.Y || s.Y >= p.Y+p.H) {
			return fmt.Errorf("slider %+v is not in its panel %+v", s, p)
		}
	}
	return nil
}

func TestLayout_ShowsTheSelectedVendorAlways(t *testing.T) {
	for h := 5; h <= 60; h++ {
		for sel := range 6 {
			l := Compute(Shape{W: 60, H: h, Vendors: 6, Selected: sel})
			if len(l.Panels) > 0 && (sel < l.First || sel >= l.First+len(l.Panels)) {
				t.Fatalf("height %d: vendor %d is not among %d from %d", h, sel, len(l.Panels), l.First)
			}
		}
	}
}

func TestLayout_GivesBothVendorsSlidersFrom40x10(t *testing.T) {
	for _, c := range []struct {
		w, h int
		top  Top
	}{{40, 10, TopNothing}, {40, 10, TopDrill}, {60, 20, TopDrill}, {80, 24, TopDrill}, {80, 24, TopWelcome}, {120, 36, TopDrill}, {50, 60, TopNothing}} {
		l := Compute(Shape{W: c.w, H: c.h, Vendors: 2, Top: c.top})
		if len(l.Sliders) != 2 || l.Sliders[0].W < 10 || l.Sliders[1].W < 10 {
			t.Errorf("%dx%d: sliders %+v", c.w, c.h, l.Sliders)
		}
		if c.top == TopDrill && l.Top.H == 0 {
			t.Errorf("%dx%d: no clock", c.w, c.h)
		}
		if l.Events.H == 0 {
			t.Errorf("%dx%d: no journal", c.w, c.h)
		}
	}
}

func TestLayout_SliderIsHitByNeighbouringRowsOnlyWhereThereIsRoom(t *testing.T) {
	big := Compute(Shape{W: 120, H: 36, Vendors: 2})
	s := big.Sliders[1]
	for _, c := range []struct {
		x, y int
		want bool
	}{{s.X, s.Y, true}, {s.X - 1, s.Y, true}, {s.X + s.W, s.Y + 1, true}, {s.X, s.Y - 1, true}, {s.X, s.Y - 2, false}, {s.X + s.W + 1, s.Y, false}} {
		if v, ok := big.SliderAt(c.x, c.y); ok != c.want || ok && v != 1 {
			t.Errorf("at %d,%d: vendor %d, %v", c.x-s.X, c.y-s.Y, v, ok)
		}
	}
	little := Compute(Shape{W: 80, H: 24, Vendors: 2})
	if _, ok := little.SliderAt(little.Sliders[0].X, little.Sliders[0].Y-1); ok {
		t.Error("at 80 columns the row above a slider belongs to the panel")
	}
}
