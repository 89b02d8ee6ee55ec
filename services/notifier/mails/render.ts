import type { PageBrand } from '#gen/roster/users/v1/sign_in_service'
import { greetedName, unprintable } from './greeted-name.ts'
import { dress, footOf, linksOf } from './brand.ts'
import { escaped } from './html.ts'
import { kindOf, type MailName } from './mail-kinds.ts'
import { readTemplates, type Template, type Templates } from './templates.ts'

/** The values that a mail shows: those that its kind names. */
export interface MailValues {
  kind: MailName
  displayName: string
  /** The host that has the account, such as id.example.com. */
  host: string
  /** Of the application or the organization. It stands for the host, if a mail may show it. */
  name?: string
  brand?: PageBrand | undefined
  /** Of the brand: a PNG. */
  logo?: Buffer | undefined
  code?: string
  url?: string
  /** Milliseconds. */
  validFor?: number
  changedAt?: Date
  /** Of an invitation. One whose name no mail shows is somebody: what they write must not come from the host. */
  inviter?: string
  /** Without a name that a mail may show, `name` or the host stands for it. */
  application?: string
  /** What the inviter says; empty where nothing. */
  message?: string
  /** Of an invitation: the identity providers of which one signs the person in; empty where none does. */
  providers?: readonly string[]
  /** The domains that it is about. */
  domains?: string
}

export interface Mail {
  /** BCP 47. The language of the template used. */
  language: string
  subject: string
  text: string
  html: string
  /** That the HTML shows, if there is one. */
  logo?: Buffer | undefined
}

export interface Mails {
  /** Renders the mail in the preferred language (BCP 47) or its nearest relative, else in English. */
  render(preferredLanguage: string, values: MailValues): Mail
}

/** Reads the mail files of the folder. Throws one Error that lists all their faults. */
export function loadMails(folder = new URL('./texts/', import.meta.url)): Mails {
  const templates = new Map(readTemplates(folder).map(({ language, mails }) => [language.toLowerCase(), mails]))
  return { render: (language, values) => render(lookUp(templates, language)[values.kind], values) }
}

// RFC 4647, section 3.4: de-AT-1996, de-AT, de.
function lookUp(templates: Map<string, Templates>, language: string): Templates {
  const subtags = language.toLowerCase().split('-')
  for (; subtags.length > 0; subtags.pop()) {
    const template = templates.get(subtags.join('-'))
    if (template) return template
  }
  return templates.get('en')!
}

function render(template: Template, values: MailValues): Mail {
  const { language, subject, text, html } = template
  const displayName = kindOf(values.kind).ofStrangers ? '' : greetedName(values.displayName)
  const { host, code, url, validFor, changedAt, message = '' } = values
  const nameOf = (name = '') => greetedName(name) || greetedName(values.name ?? '') || host
  const links = linksOf(values.brand, template.words)
  const shown: Record<string, string> = {
    greeting: displayName === '' ? template.greetingWithoutName : fill(template.greeting, { displayName }, plain),
    host: nameOf(),
    ...(code !== undefined && { code }),
    ...(url !== undefined && { url }),
    ...(validFor !== undefined && { validFor: duration(validFor, language) }),
    ...(changedAt && { changedAt: moment(changedAt, language) }),
    inviter: greetedName(values.inviter ?? '') || template.words.inviterWithoutName,
    application: nameOf(values.application),
    domains: values.domains ?? '',
    providers: oneOf(values.providers ?? [], language),
    // It stands between quotation marks of the mail, and must not end them.
    message: message.replace(quotationMarks, "'"),
  }
  const empty = (['message', 'providers'] as const).filter((name) => shown[name] === '')
  const whole = (written: string) => empty.reduce(withoutLineOf, written)
  return {
    language,
    subject: fill(subject, shown, plain),
    text: fill(whole(text), shown, plain) + footOf(links),
    html: dress(
      fill(whole(html), shown, (value) => escaped(plain(value))),
      values,
      links,
    ),
    logo: values.logo,
  }
}

const quotationMarks = /["“”„‟«»〝〞〟＂]/gu

// Its paragraph is of one line.
function withoutLineOf(written: string, name: string): string {
  return written.replace(new RegExp(`^.*\\{\\{${name}\\}\\}.*\\n\\n?`, 'm'), '')
}

// Their owner chose the names.
function oneOf(names: readonly string[], language: string): string {
  const shown = names.map(greetedName).filter((name) => name !== '')
  return formatOf(`${language} list`, () => new Intl.ListFormat(language, { type: 'disjunction' })).format(shown)
}

function fill(template: string, values: Record<string, string>, write: (value: string) => string): string {
  return template.replace(/\{\{(\w+)\}\}/g, (_, name: string) => write(values[name]!))
}

function plain(value: string): string {
  return value.replace(unprintable, ' ')
}

// A duration needs no time zone: "45 minutes", "1 hour", "3 days". Rounded down, but minutes to the nearest, and what
// lacks little of an hour or a day counts as one: the way here may have taken some seconds, or a second try.
function duration(milliseconds: number, language: string): string {
  const minutes = Math.max(1, Math.round(milliseconds / 60_000))
  const [count, unit] =
    minutes < 60 || (minutes < 120 && minutes % 60 !== 0)
      ? [minutes, 'minute']
      : minutes < 47 * 60
        ? [Math.floor((minutes + 5) / 60), 'hour']
        : [Math.floor((minutes + 60) / (24 * 60)), 'day']
  return formatOf(
    `${language} ${unit}`,
    () => new Intl.NumberFormat(language, { style: 'unit', unit, unitDisplay: 'long' }),
  ).format(count)
}

// The reader's time zone is unknown.
function moment(time: Date, language: string): string {
  return formatOf(
    language,
    () => new Intl.DateTimeFormat(language, { dateStyle: 'long', timeStyle: 'long', timeZone: 'UTC' }),
  ).format(time)
}

// A format costs more to make than a whole mail. The languages are those of the templates.
const formats = new Map<string, unknown>()
function formatOf<Format>(key: string, make: () => Format): Format {
  const format = (formats.get(key) as Format | undefined) ?? make()
  formats.set(key, format)
  return format
}
