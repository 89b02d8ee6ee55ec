import { readdirSync, readFileSync } from 'node:fs'

/** A mail in one language, as its translator wrote it. */
export interface Template {
  language: string
  subject: string
  greeting: string
  greetingWithoutName: string
  text: string
  html: string
}

const head =
  /^Subject: (?<subject>.+)\r?\nGreeting: (?<greeting>.+)\r?\nGreeting without a name: (?<greetingWithoutName>.+)\r?\n\r?\n(?<text>[^]+)$/

// The placeholders that each part must have, and those that it may have.
const inEveryBody = ['greeting', 'code', 'url', 'validFor']
const rules: Record<keyof Omit<Template, 'language'>, { must: string[]; may: string[] }> = {
  subject: { must: [], may: ['host'] },
  greeting: { must: ['displayName'], may: [] },
  greetingWithoutName: { must: [], may: [] },
  text: { must: inEveryBody, may: ['host'] },
  html: { must: inEveryBody, may: ['host'] },
}

/**
 * Reads `<language>/email-code.{txt,html}` of each language in the folder. Throws one Error that lists every problem.
 */
export function readTemplates(folder: URL): Template[] {
  const problems: string[] = []
  const languages = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isDirectory())
  const templates = languages.map(({ name }) => readTemplate(new URL(`${name}/`, folder), name, problems))
  if (!templates.some((template) => template.language === 'en')) problems.push('en/ is missing')
  if (problems.length > 0) throw new Error(`Mails: ${problems.join('; ')}.`)
  return templates
}

function readTemplate(folder: URL, language: string, problems: string[]): Template {
  const read = (file: string) => readFileSync(new URL(file, folder), 'utf8')
  const written = head.exec(read('email-code.txt'))?.groups
  if (!written)
    problems.push(`${language}/email-code.txt does not begin with the lines Subject, Greeting, Greeting without a name`)
  const { subject = '', greeting = '', greetingWithoutName = '', text = '' } = written ?? {}
  const template = { language, subject, greeting, greetingWithoutName, text, html: read('email-code.html') }
  if (written) problems.push(...Object.keys(rules).flatMap((part) => check(template, part as keyof typeof rules)))
  return template
}

function check(template: Template, part: keyof typeof rules): string[] {
  const file = part === 'html' ? 'html' : part === 'text' ? 'txt' : `txt (${part})`
  const where = `${template.language}/email-code.${file}`
  const { must, may } = rules[part]
  const found = template[part].split(/\{\{(\w+)\}\}/)
  const names = found.filter((_, index) => index % 2 === 1)
  const stray = found.some((between, index) => index % 2 === 0 && /\{\{|\}\}/.test(between))
  return [
    ...must.filter((name) => !names.includes(name)).map((name) => `${where} lacks {{${name}}}`),
    ...names
      .filter((name) => !must.includes(name) && !may.includes(name))
      .map((name) => `${where} has the unknown {{${name}}}`),
    ...(stray ? [`${where} has braces that belong to no placeholder`] : []),
  ]
}
