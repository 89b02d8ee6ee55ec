import type { PageBrand } from '#gen/roster/users/v1/sign_in_service'
import { html, type Html } from '../html.ts'
import { type Texts, texts } from '../texts/texts.ts'

/** The language of a page, its texts, and how it looks, if not as Roster. */
export interface Language {
  tag: string
  text: Texts
  brand?: PageBrand | undefined
}

/**
 * The language of a page: the first that there is of `wanted` (tags separated by blanks, the best first), else of the
 * header Accept-Language, else English.
 */
export function chooseLanguage(wanted: string, acceptLanguage = ''): Language {
  const tag = [...wanted.split(' '), ...accepted(acceptLanguage)]
    .map((one) => one.toLowerCase().split('-')[0]!)
    .find((one) => Object.hasOwn(texts, one))
  return { tag: tag ?? 'en', text: texts[tag ?? 'en']! }
}

// RFC 9110 section 12.5.4: those of one weight are in the order of the header.
function accepted(header: string): string[] {
  return header
    .split(',')
    .map((item) => {
      const [tag = '', weight] = item.split(/;\s*q=/i)
      return { tag: tag.trim(), weight: weight === undefined ? 1 : Number(weight) }
    })
    .filter(({ weight }) => weight > 0)
    .toSorted((one, other) => other.weight - one.weight)
    .map(({ tag }) => tag)
}

/** A time. Nobody knows the person's time zone without a script. */
export function moment({ tag }: Language, at: Date): Html {
  const format = new Intl.DateTimeFormat(tag, { dateStyle: 'medium', timeStyle: 'short', timeZone: 'UTC' })
  return html`<time datetime="${at.toISOString()}">${format.format(at)} UTC</time>`
}

/** Says how long, such as `30 seconds`. */
export function duration({ tag }: Language, seconds: number): string {
  const [count, unit] = seconds < 90 ? [seconds, 'second'] : [Math.ceil(seconds / 60), 'minute']
  return new Intl.NumberFormat(tag, { style: 'unit', unit, unitDisplay: 'long' }).format(count)
}
