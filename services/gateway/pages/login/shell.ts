import { hash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { footOf, iconOf, logoOf, styleOf } from './brand.ts'
import { html, type Html, markupOf, type Part, toText } from './html.ts'
import type { Language } from './language/language.ts'

/** A page as it leaves: its text, and what it may load and do. */
export interface Document {
  body: string
  policy: string
}

/** What differs between pages besides their content. */
export interface Frame {
  /** Of the window, if it says more than the heading. */
  windowTitle?: Part
  /** Where the browser goes by itself at once. */
  refreshTo?: string
  /** The form of this page may lead to another site. */
  leadsElsewhere?: boolean
  /** It sends that form. */
  script?: string
  /** Its script asks Roster for something. */
  connects?: boolean
}

// It lies in the page: that is one request less, and the page of one release never gets the style of another.
// It comes with each page, so without its indents.
const common = readFileSync(new URL('../verify-email.css', import.meta.url), 'utf8').replaceAll(/^ +/gm, '')

/** Makes a page around its content. */
export function frame({ tag, text, brand }: Language, title: string, content: Part, frame: Frame = {}): Document {
  const { windowTitle = title, refreshTo, script, leadsElsewhere = false, connects = false } = frame
  const style = brand ? common + styleOf(brand) : common
  const page = html`<!doctype html>
    <html lang="${tag}">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <meta name="robots" content="noindex" />
        ${refreshTo !== undefined && html`<meta http-equiv="refresh" content="0; url=${refreshTo}" />`}
        <title>${windowTitle}</title>
        ${brand && iconOf(brand)} ${element('style', style)}
      </head>
      <body>
        <main>
          ${brand && logoOf(brand)}
          <h1>${title}</h1>
          ${content}
        </main>
        ${brand && refreshTo === undefined && footOf(brand, text)} ${script !== undefined && element('script', script)}
      </body>
    </html> `
  return { body: toText(page), policy: policyOf(style, script, { leadsElsewhere, connects }) }
}

// A form that leads to an application would be held up there, if that redirects to a third site.
function policyOf(
  style: string,
  script: string | undefined,
  { leadsElsewhere, connects }: { leadsElsewhere: boolean; connects: boolean },
): string {
  const forms = leadsElsewhere ? '' : " form-action 'self';"
  const scripts = script === undefined ? '' : ` script-src ${sourceOf(script)};`
  return `default-src 'none'; style-src ${sourceOf(style)}; img-src 'self';${scripts}${connects ? " connect-src 'self';" : ''}${forms} base-uri 'none'; frame-ancestors 'none'`
}

// Its text has a hash in the policy, so nothing may stand around it: no blank of a template.
function element(name: 'style' | 'script', text: string): Html {
  return markupOf(`<${name}>${text}</${name}>`)
}

/** The style of a page, which may stand in it by its hash. */
export function styleElement(style: string): Html {
  return element('style', style)
}

/** What a policy says of a text in the page. */
export function sourceOf(text: string): string {
  return `'sha256-${hash('sha256', text, 'base64')}'`
}
