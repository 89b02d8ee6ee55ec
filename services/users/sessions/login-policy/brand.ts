import type { Brand as Sent, Theme as SentTheme } from '#gen/roster/users/v1/login_policy_service'
import type { PageBrand, PageTheme } from '#gen/roster/users/v1/sign_in_service'
import type { Violation } from '#lib/errors'
import type { Brand, Theme } from '../events/login-policy.ts'

/** What pages have where a brand says nothing, and the colours of all their other texts. */
export const own = {
  lightTheme: {
    primaryColor: '#1d4ed8',
    backgroundColor: '#ffffff',
    texts: ['#1b1f24', '#4d5661', '#14692f', '#b3151c'],
  },
  darkTheme: {
    primaryColor: '#9db8ff',
    backgroundColor: '#1e2226',
    texts: ['#eceff2', '#b3bcc6', '#7bd992', '#ff9a94'],
  },
}
const themes = ['lightTheme', 'darkTheme'] as const

/** Colours that cannot be read on a page. What a text is readable on, the border of a field is seen on. */
export function faultsOfBrand(brand: Pick<Sent, (typeof themes)[number]>): Violation[] {
  return themes.flatMap((name) =>
    faultsOfTheme(brand[name] ?? {}, own[name]).map((fault) => ({ ...fault, field: `${name}.${fault.field}` })),
  )
}

function faultsOfTheme(theme: SentTheme, roster: (typeof own)['lightTheme']): Violation[] {
  const { primaryColor: primary, backgroundColor: background, groundColor } = theme
  // The declared rule refuses what is no colour.
  if (![primary, background, groundColor].every((color) => color === undefined || /^#[\da-f]{6}$/i.test(color)))
    return []
  const card = background ?? roster.backgroundColor
  return [
    ...(primary === undefined ? [] : faultsOf('primaryColor', card, [primary])),
    ...(background === undefined
      ? []
      : faultsOf(
          'backgroundColor',
          card,
          primary === undefined ? [...roster.texts, roster.primaryColor] : roster.texts,
        )),
    // The foot of a page, and the mark of the focus there.
    ...(groundColor === undefined
      ? []
      : faultsOf('groundColor', groundColor, [...roster.texts, primary ?? roster.primaryColor])),
  ]
}

/** WCAG 2.2, 1.4.3. */
const least = 4.5

// One for a field: the worst.
function faultsOf(field: string, ground: string, texts: string[]): Violation[] {
  const [worst] = texts
    .map((color) => ({ color, ratio: contrast(color, ground) }))
    .toSorted((one, other) => one.ratio - other.ratio)
  if (worst!.ratio >= least) return []
  // Never rounded up to what would be enough.
  const measured = (Math.floor(worst!.ratio * 100) / 100).toFixed(2)
  const description = `${worst!.color} has a contrast of ${measured} on ${ground}: must be at least ${least}`
  return [{ field, description }]
}

/** A brand as a page needs it. The text of a button is black or white, whichever is easier to read. */
export function brandOfPage({ lightTheme, darkTheme, ...rest }: Brand): PageBrand {
  return { ...rest, lightTheme: themeOfPage(lightTheme), darkTheme: themeOfPage(darkTheme) }
}

function themeOfPage(theme: Theme = {}): PageTheme {
  const { primaryColor: color } = theme
  return { ...theme, onPrimaryColor: color === undefined ? undefined : easiestOn(color) }
}

function easiestOn(color: string): string {
  return contrast(color, '#ffffff') >= contrast(color, '#000000') ? '#ffffff' : '#000000'
}

/** The contrast of two colours, 1 to 21 (WCAG 2.2, "contrast ratio"). */
export function contrast(one: string, other: string): number {
  const [dark, light] = [luminance(one), luminance(other)].toSorted((a, b) => a - b)
  return (light! + 0.05) / (dark! + 0.05)
}

function luminance(color: string): number {
  const [red, green, blue] = [1, 3, 5].map((at) => {
    const part = Number.parseInt(color.slice(at, at + 2), 16) / 255
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * red! + 0.7152 * green! + 0.0722 * blue!
}
