import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { brandOfPage, contrast, faultsOfBrand, own } from './brand.ts'

const style = readFileSync(new URL('../../../gateway/pages/verify-email.css', import.meta.url), 'utf8')
// In light and in dark.
const found = (name: string) =>
  [...style.matchAll(new RegExp(`${name}: (#\\w+);`, 'g'))].map(([, color]) => color!.replace(/^#(\w{3})$/, '#$1$1'))
const [light, dark] = found('--line')
const line = { light: light!, dark: dark! }
const greys = Array.from({ length: 256 }, (_, grey) => `#${grey.toString(16).padStart(2, '0').repeat(3)}`)

test.each([
  ['#000000', '#ffffff', 21],
  ['#777777', '#ffffff', 4.478],
  ['#1d4ed8', '#ffffff', 6.7],
  ['#FF0000', '#ffffff', 3.998],
])('the contrast of %s and %s', (one, other, ratio) => {
  expect(contrast(one, other)).toBeCloseTo(ratio, 2)
  expect(contrast(other, one)).toBe(contrast(one, other))
})

const faults = (lightTheme: object, darkTheme = {}) => faultsOfBrand({ lightTheme, darkTheme })

test('a colour that cannot be read is refused with the ratio that was measured, never rounded up', () => {
  expect(faults({ primaryColor: '#777777' }, { primaryColor: '#777777' })).toEqual([
    {
      field: 'lightTheme.primaryColor',
      description: '#777777 has a contrast of 4.47 on #ffffff: must be at least 4.5',
    },
    {
      field: 'darkTheme.primaryColor',
      description: '#777777 has a contrast of 3.57 on #1e2226: must be at least 4.5',
    },
  ])
  expect(faults({ primaryColor: '#767676' }, { primaryColor: '#9db8ff' })).toEqual([])
})

test('so is a background that a text of the page cannot be read on, by the worst of them', () => {
  expect(faults({ backgroundColor: '#808080' })).toEqual([
    {
      field: 'lightTheme.backgroundColor',
      description: '#1d4ed8 has a contrast of 1.69 on #808080: must be at least 4.5',
    },
  ])
  // Roster's own blue is on it, unless there is another one.
  expect(faults({ backgroundColor: '#fff8e7' }, { backgroundColor: '#101418' })).toEqual([])
  expect(faults({ primaryColor: '#7a1fa2', backgroundColor: '#f6eefa' })).toEqual([])
  const both = faults({ primaryColor: '#eeeeee', backgroundColor: '#f6eefa' })
  expect(both.map(({ field }) => field)).toEqual(['lightTheme.primaryColor'])
})

test('so is a ground, on which the foot of a page stands; it may be another colour than the card', () => {
  expect(faults({ groundColor: '#808080' })).toEqual([
    {
      field: 'lightTheme.groundColor',
      description: '#1d4ed8 has a contrast of 1.69 on #808080: must be at least 4.5',
    },
  ])
  expect(faults({ groundColor: '#eceff2', backgroundColor: '#ffffff' }, { groundColor: '#000000' })).toEqual([])
  expect(faults({}, { groundColor: '#ffffff' }).map(({ field }) => field)).toEqual(['darkTheme.groundColor'])
})

// A contrast depends on the luminance alone, and greys have any.
test('where a background is taken, the borders of fields are seen on it', () => {
  for (const backgroundColor of greys) {
    if (faults({ backgroundColor }).length === 0) expect(contrast(line.light, backgroundColor)).toBeGreaterThan(3)
    if (faults({}, { backgroundColor }).length === 0) expect(contrast(line.dark, backgroundColor)).toBeGreaterThan(3)
  }
})

test('what is no colour is left to the rule that is declared', () => {
  expect(faults({ primaryColor: 'red', backgroundColor: '#000' })).toEqual([])
})

test('the text of each button is easy to read', () => {
  for (const primaryColor of greys) {
    const { onPrimaryColor } = brandOfPage({ lightTheme: { primaryColor } }).lightTheme!
    expect(contrast(onPrimaryColor!, primaryColor)).toBeGreaterThan(4.5)
  }
})

test('colours are measured against those that pages have', () => {
  const names = ['--card', '--accent', '--text', '--soft', '--good', '--bad']
  const measured = [own.lightTheme, own.darkTheme].map(({ backgroundColor, primaryColor, texts }) => [
    backgroundColor,
    primaryColor,
    ...texts,
  ])
  expect([names.map((name) => found(name)[0]), names.map((name) => found(name)[1])]).toEqual(measured)
})
