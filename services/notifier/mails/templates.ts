import { readdirSync, readFileSync } from 'node:fs'
import type { LinkNames } from './brand.ts'
import { toHtml } from './html.ts'
import { kindOf, mailNames, type MailName } from './mail-kinds.ts'

/** A mail in one language, as its translator wrote it. */
export interface Template {
  language: string
  subject: string
  greeting: string
  greetingWithoutName: string
  /** Of the button that leads to the link. */
  button: string
  text: string
  html: string
  words: Words
}

/** What every mail of a language may need. */
export interface Words extends LinkNames {
  inviterWithoutName: string
}

/** The mails of one language. */
export type Templates = Record<MailName, Template>

const head =
  /^Subject: (?<subject>.+)\r?\nGreeting: (?<greeting>.+)\r?\nGreeting without a name: (?<greetingWithoutName>.+)\r?\n(?:Button: (?<button>.+)\r?\n)?\r?\n(?<text>[^]+)$/

type Part = keyof Omit<Template, 'language' | 'html' | 'words'>

// The placeholders that each part must have, and those that it may have.
function rulesOf(kind: MailName): Record<Part, { must: string[]; may: string[] }> {
  const may = ['host']
  return {
    subject: { must: [], may },
    greeting: { must: ['displayName'], may: [] },
    greetingWithoutName: { must: [], may: [] },
    button: { must: [], may },
    text: { must: ['greeting', ...kindOf(kind).shows], may },
  }
}

/**
 * Reads `<language>/<kind>.txt` and `<language>/words.txt` of each language in the folder. Throws one Error that lists every problem.
 */
export function readTemplates(folder: URL): { language: string; mails: Templates }[] {
  const problems: string[] = []
  const languages = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isDirectory())
  const templates = languages.map(({ name: language }) => {
    const words = readWords(new URL(`${language}/words.txt`, folder), language, problems)
    const read = (kind: MailName) => readTemplate(new URL(`${language}/`, folder), { language, kind, words }, problems)
    return { language, mails: Object.fromEntries(mailNames.map((kind) => [kind, read(kind)])) as Templates }
  })
  if (!templates.some(({ language }) => language === 'en')) problems.push('en/ is missing')
  if (problems.length > 0) throw new Error(`Mails: ${problems.join('; ')}.`)
  return templates
}

function readWords(file: URL, language: string, problems: string[]): Words {
  const lines = /^Privacy policy: (.+)\r?\nTerms of service: (.+)\r?\nHelp: (.+)\r?\nInviter without a name: (.+)\r?\n$/
  const [, privacyPolicyLink = '', tosLink = '', helpLink = '', inviterWithoutName = ''] =
    lines.exec(readFileSync(file, 'utf8')) ?? []
  if (inviterWithoutName === '')
    problems.push(
      `${language}/words.txt has not the lines Privacy policy, Terms of service, Help, Inviter without a name`,
    )
  return { privacyPolicyLink, tosLink, helpLink, inviterWithoutName }
}

function readTemplate(
  folder: URL,
  { language, kind, words }: { language: string; kind: MailName; words: Words },
  problems: string[],
): Template {
  const name = `${language}/${kind}`
  const written = head.exec(readFileSync(new URL(`${kind}.txt`, folder), 'utf8'))?.groups
  if (!written) problems.push(`${name}.txt does not begin with the lines Subject, Greeting, Greeting without a name`)
  // A mail that asks for one thing says it in its subject.
  const { subject = '', greeting = '', greetingWithoutName = '', button = subject, text = '' } = written ?? {}
  const html = toHtml({ language, subject, button, text })
  const template = { language, subject, greeting, greetingWithoutName, button, text, html, words }
  const rules = Object.entries(rulesOf(kind)) as [Part, { must: string[]; may: string[] }][]
  if (written)
    problems.push(
      ...rules.flatMap(([part, rule]) =>
        check(template[part], `${name}.txt${part === 'text' ? '' : ` (${part})`}`, rule),
      ),
    )
  return template
}

function check(text: string, where: string, { must, may: allowed }: { must: string[]; may: string[] }): string[] {
  const found = text.split(/\{\{(\w+)\}\}/)
  const names = found.filter((_, index) => index % 2 === 1)
  const stray = found.some((between, index) => index % 2 === 0 && /\{\{|\}\}/.test(between))
  return [
    ...must.filter((name) => !names.includes(name)).map((name) => `${where} lacks {{${name}}}`),
    ...names
      .filter((name) => !must.includes(name) && !allowed.includes(name))
      .map((name) => `${where} has the unknown {{${name}}}`),
    ...(stray ? [`${where} has braces that belong to no placeholder`] : []),
  ]
}
