import type { PageBrand, PageTheme } from '#gen/roster/users/v1/sign_in_service'
import { html, type Part } from './html.ts'
import { checkLocation } from './language/location.ts'
import type { Texts } from './texts/texts.ts'

/** The style of a brand, after that of all pages. Nothing but colours and a number of a brand gets into it. */
export function styleOf({ lightTheme, darkTheme, cornerRadius }: PageBrand): string {
  const radius = cornerRadius === undefined ? '' : `--radius:${cornerRadius}px;`
  // Each theme by itself: where one sets no colour, it has Roster's own and not that of the other.
  return `:root{${radius}}${of('light', lightTheme)}${of('dark', darkTheme)}`
}

function of(scheme: 'light' | 'dark', theme: PageTheme | undefined): string {
  return `@media (prefers-color-scheme:${scheme}){:root{${colors(theme)}}}`
}

function colors({
  primaryColor,
  onPrimaryColor,
  backgroundColor,
  groundColor = backgroundColor,
}: PageTheme = {}): string {
  return Object.entries({
    accent: primaryColor,
    'on-accent': onPrimaryColor,
    card: backgroundColor,
    // As the card, where the brand does not say.
    ground: groundColor,
  })
    .map(([name, color]) => (color === undefined ? '' : `--${name}:${checkColor(color)};`))
    .join('')
}

/** The logo above the heading; where the system is dark, that for dark. */
export function logoOf({ logoHash, darkLogoHash }: PageBrand): Part {
  if (logoHash === undefined) return undefined
  const logo = html`<img class="logo" src="/ui/logo/${logoHash}" alt="" />`
  if (darkLogoHash === undefined) return logo
  const dark = html`<source srcset="/ui/logo/${darkLogoHash}" media="(prefers-color-scheme: dark)" />`
  return html`<picture>${dark}${logo}</picture>`
}

/** The picture in the tab of the browser. */
export function iconOf({ iconHash }: PageBrand): Part {
  return iconHash !== undefined && html`<link rel="icon" type="image/png" href="/ui/logo/${iconHash}" />`
}

/** The links of the organization, which open beside the page: what is typed there stays. */
export function footOf({ privacyPolicyLink = '', tosLink = '', helpLink = '' }: PageBrand, text: Texts): Part {
  const links = [
    [privacyPolicyLink, text.privacyPolicy],
    [tosLink, text.termsOfService],
    [helpLink, text.help],
  ] as const
  const shown = links
    .filter(([link]) => link !== '')
    .map(([link, name]) => html`<a href="${checkLocation(link)}" target="_blank" rel="noreferrer">${name}</a>`)
  return shown.length > 0 && html`<footer>${shown}</footer>`
}

// Users gives nothing else.
function checkColor(color: string): string {
  if (/^#[\da-f]{6}$/i.test(color)) return color
  throw new Error('a brand has another text than a colour')
}
