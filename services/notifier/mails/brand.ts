import type { PageBrand, PageTheme } from '#gen/roster/users/v1/sign_in_service'
import { brandPlaces, escaped, logoId } from './html.ts'

/** The names of the links of a brand, in a language. */
export interface LinkNames {
  privacyPolicyLink: string
  tosLink: string
  helpLink: string
}

export interface Link {
  name: string
  url: string
}

/** The links at the foot of a mail. */
export function linksOf(brand: PageBrand | undefined, names: LinkNames): Link[] {
  return Object.entries(names).flatMap(([key, name]) => {
    const url = URL.parse(brand?.[key as keyof LinkNames] ?? '')
    // Users takes nothing else.
    return url?.protocol === 'https:' ? [{ name, url: url.href }] : []
  })
}

/** The foot of a text. */
export function footOf(links: Link[]): string {
  return links.length === 0 ? '' : `\n${links.map(({ name, url }) => `${name}: ${url}\n`).join('')}`
}

// Where the brand says nothing.
const button = { primaryColor: '#1d4ed8', onPrimaryColor: '#ffffff' }

/** Puts the brand into a mail whose texts are in their places. */
export function dress(
  html: string,
  { brand, logo }: { brand?: PageBrand | undefined; logo?: Buffer | undefined },
  links: Link[],
): string {
  const theme = brand?.lightTheme
  const isOwn = isColor(theme?.primaryColor) && isColor(theme?.onPrimaryColor)
  const { primaryColor, onPrimaryColor } = isOwn ? theme! : button
  const places: Record<string, string> = {
    [brandPlaces.button]: `background: ${primaryColor}; color: ${onPrimaryColor}`,
    [brandPlaces.logo]: logo ? logoOn(theme) : '',
    [brandPlaces.foot]: links.length === 0 ? '' : footIn(links),
  }
  return Object.entries(places).reduce((before, [place, markup]) => before.replaceAll(place, () => markup), html)
}

// It is drawn for the light card, and a mail may be read on a dark ground.
function logoOn(theme: PageTheme | undefined): string {
  const color = theme?.backgroundColor
  const ground = isColor(color) ? color! : '#ffffff'
  return `<p style="margin: 0 0 24px"><img src="cid:${logoId}" alt="" height="48" style="height: 48px; max-width: 100%; padding: 8px; border-radius: 6px; background: ${ground}" /></p>\n`
}

function footIn(links: Link[]): string {
  const all = links.map(({ name, url }) => `<a href="${escaped(url)}" style="color: inherit">${escaped(name)}</a>`)
  return `<p style="margin: 32px 0 0; font-size: 14px">${all.join(' &nbsp; ')}</p>\n`
}

function isColor(text: string | undefined): boolean {
  return /^#[\da-f]{6}$/i.test(text ?? '')
}
