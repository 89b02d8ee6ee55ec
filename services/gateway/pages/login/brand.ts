import type { PageBrand, PageTheme } from '#gen/roster/users/v1/sign_in_service'

/** The style of a brand, after that of all pages. Nothing but colours and a number of a brand gets into it. */
export function styleOf({ lightTheme, darkTheme, cornerRadius }: PageBrand): string {
  const radius = cornerRadius === undefined ? '' : `--radius:${cornerRadius}px;`
  // Each theme by itself: where one sets no colour, it has Roster's own and not that of the other.
  return `:root{${radius}}${of('light', lightTheme)}${of('dark', darkTheme)}`
}

function of(scheme: 'light' | 'dark', theme: PageTheme | undefined): string {
  return `@media (prefers-color-scheme:${scheme}){:root{${colors(theme)}}}`
}

function colors({ primaryColor, onPrimaryColor, backgroundColor }: PageTheme = {}): string {
  return Object.entries({
    accent: primaryColor,
    'on-accent': onPrimaryColor,
    // One plain, so that every text stands on it.
    card: backgroundColor,
    ground: backgroundColor,
  })
    .map(([name, color]) => (color === undefined ? '' : `--${name}:${checkColor(color)};`))
    .join('')
}

// Users gives nothing else.
function checkColor(color: string): string {
  if (/^#[\da-f]{6}$/i.test(color)) return color
  throw new Error('a brand has another text than a colour')
}
