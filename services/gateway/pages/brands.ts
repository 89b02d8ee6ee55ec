import { InternalServiceDefinition } from '#gen/roster/users/v1/internal_service'
import type { Exchange } from '../listen/exchange.ts'
import { createCache } from '#lib/cache'
import { type AskingNats, createClient } from '#lib/rpc/call'
import { internalCalls } from '../../internal-calls.ts'
import { footOf, iconOf, logoOf, styleOf } from './login/brand.ts'
import { withBrandOf } from './login/form.ts'
import { html, type Part, toText } from './login/html.ts'
import { chooseLanguage, type Language } from './login/language/language.ts'
import { sourceOf, styleElement } from './login/shell.ts'
import { etagOf, type Page, security } from './pages.ts'

type Look = Language['brand']

/** What says whose brand a page has that users does not answer. */
export interface BrandKey {
  /** As `brandIn` gives it. */
  organizationId: string
  /** Of the page of a request, in this browser. */
  requestId?: string
  browser?: string
}

/** The brands of pages that users does not answer. */
export interface Brands {
  /** Undefined: as Roster, also where users does not say it in time. */
  find(key: BrandKey): Promise<Look>
  /** What was found of late, without asking anybody. */
  known(key: BrandKey): Look
}

// Milliseconds. What was found before is better than no brand.
const [freshFor, keptFor, answerWithin] = [1000, 3_600_000, 1000]

export function createBrands(nats: AskingNats): Brands {
  const users = createClient(nats, InternalServiceDefinition, internalCalls.gateway.users)
  const found = createCache<{ brand: Look; at: number }>({ capacity: 500, maxAge: keptFor })

  function requestOf({ organizationId, requestId = '', browser = '' }: BrandKey) {
    const isRequest = /^[\w-]{1,200}$/.test(requestId) && browser !== ''
    return { organizationId, ...(isRequest ? { requestId, browser } : { requestId: '', browser: '' }) }
  }

  return {
    async find(key) {
      const request = requestOf(key)
      const name = JSON.stringify(request)
      const last = found.get(name)
      if (last && Date.now() - last.at < freshFor) return last.brand
      const at = Date.now()
      const ask = async () => {
        const { brand } = await users.findPageBrand(request, { requestId: '', deadline: at + answerWithin })
        return { value: { brand, at } }
      }
      return (await found.obtain(name, ask).catch(() => last))?.brand
    },
    known: (key) => found.get(JSON.stringify(requestOf(key)))?.brand,
  }
}

/** The organization whose brand a page is asked for with; empty where none is named, or by no id. */
export function brandIn(parameters: Pick<URLSearchParams | ReadonlyMap<string, string>, 'get'>): string {
  const id = parameters.get('organization_id') ?? ''
  return /^[A-Za-z0-9][\w-]{0,199}$/.test(id) ? id : ''
}

/** A file of ours with the brand: its colours, its logos, and its links at the foot. */
export async function dressPage(
  brands: Brands,
  { query, request }: Pick<Exchange, 'query' | 'request'>,
  page: Page,
): Promise<Page> {
  if (!page.takesBrand) return page
  const organizationId = brandIn(new URLSearchParams(query))
  const brand = await brands.find({ organizationId })
  if (!brand) return page
  const { text } = chooseLanguage('', request.headers['accept-language'])
  const style = styleOf(brand)
  const added: [string, Part][] = [
    ['(?=</head>)', [iconOf(brand), styleElement(style)]],
    ['(?<=<main>)', logoOf(brand)],
    ['(?<=</main>)', footOf(brand, text)],
    // Where no script runs, the page that comes next has the brand, too.
    ['(?=</form>\\s*</main>)', withBrandOf(organizationId)],
  ]
  const body = Buffer.from(
    added.reduce(
      (before, [place, part]) => before.replace(new RegExp(place), () => toText(html`${part}`)),
      page.body.toString(),
    ),
  )
  const policy = security['content-security-policy'].replace("style-src 'self'", `style-src 'self' ${sourceOf(style)}`)
  return { type: page.type, body, etag: etagOf(body), policy }
}
