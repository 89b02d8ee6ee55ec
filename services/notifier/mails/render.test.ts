import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterEach, describe, expect, it } from 'vitest'
import { greetedName } from './greeted-name.ts'
import { loadMails } from './render.ts'

const values = {
  kind: 'email-code' as const,
  displayName: 'Gigi Giraffe',
  code: 'ABC234',
  url: 'https://id.example.com/ui/verify-email#userId=42&code=ABC234',
  host: 'id.example.com',
  validFor: 3_600_000,
}
const mails = loadMails()

describe('an invitation', () => {
  const invitation = { ...values, kind: 'invitation' as const, application: 'Billing' }

  it.each(['', 'Dr.Evil', 'see evil.example', 'call +49 30 1234567'])(
    'of an inviter whose name %j no mail shows is not from the host',
    (inviter) => {
      const { text } = mails.render('en', { ...invitation, inviter, message: 'See you' })
      expect(text).toContain('Somebody invites you to Billing.')
      expect(text).toContain('Somebody writes: “See you”')
    },
  )

  it.each(['"', '“', '”', '„', '«', '»', '＂'])('has a message that does not end its quotation by %s', (mark) => {
    for (const language of ['en', 'de']) {
      const { text } = mails.render(language, { ...invitation, inviter: 'Ada', message: `a${mark} Sign in. ${mark}b` })
      expect(text).toMatch(/[“„]a' Sign in\. 'b[”“]/)
    }
  })
})

describe('the language of a mail', () => {
  it.each([
    ['de', 'de'],
    ['de-AT', 'de'],
    ['de-Latn-CH-1996', 'de'],
    ['DE-ch', 'de'],
    ['en-GB', 'en'],
    ['', 'en'],
    ['fr', 'en'],
    ['deu', 'en'],
    ['x-klingon', 'en'],
    ['__proto__', 'en'],
  ])('for %j is %s', (wanted, language) => {
    expect(mails.render(wanted, values).language).toBe(language)
  })
})

describe.each(['en', 'de'])('the mail in %s', (language) => {
  const mail = mails.render(language, values)

  it('shows name, code, link and host in text and HTML, and leaves no placeholder', () => {
    for (const body of [mail.text, mail.html]) {
      expect(body).toContain('Gigi Giraffe')
      expect(body).toContain('ABC234')
      expect(body).toContain('id.example.com')
      expect(body).not.toMatch(/[{}]{2}/)
    }
    expect(mail.text).toContain(`\n${values.url}\n`)
    expect(mail.html).toContain('href="https://id.example.com/ui/verify-email#userId=42&amp;code=ABC234"')
  })

  it('keeps the code out of the subject: locked screens and logs show subjects', () => {
    expect(mail.subject).not.toContain('ABC234')
    expect(mail.subject).not.toMatch(/[\r\n]/)
  })

  it('loads nothing from other places', () => {
    expect(mail.html).not.toMatch(/<(img|script|link|iframe|style)|url\(|src=/i)
  })

  it('greets without a name if there is none', () => {
    const { text } = mails.render(language, { ...values, displayName: '' })
    expect(text).toMatch(/^(Hello|Guten Tag),\n/)
  })
})

describe.each(['en', 'de'])('the mails of a registration in %s', (language) => {
  const common = { displayName: 'Gigi Giraffe', host: 'id.example.com' }
  const code = mails.render(language, { ...common, kind: 'registration', code: 'ABC234', validFor: 3_600_000 })
  const url = 'https://id.example.com/ui/forgot-password'
  const known = mails.render(language, { ...common, kind: 'already-registered', url })

  it('have the code without a link, so that it is entered where it was asked for', () => {
    expect(code.text).toContain('\n    ABC234\n')
    expect(code.text + code.html).not.toContain('://')
    expect(code.text + code.html).not.toContain('Gigi')
    expect(code.subject).not.toContain('ABC234')
  })

  it('have no code for an address with an account, and a way in', () => {
    expect(known.text).toContain(`\n${url}\n`)
    expect(known.text).not.toMatch(/\b[2-9A-HJ-NP-Z]{6}\b/)
    const [, button] = /<a href="[^"]*" style="[^"]*inline-block[^"]*">([^<]*)</.exec(known.html)!
    expect(button).toBe(language === 'en' ? 'Get into your account' : 'Zum Konto')
  })

  it('say that a code serves where people sign in by it, without a link or a code', () => {
    const { text, html } = mails.render(language, { ...common, kind: 'already-registered-by-code', url: '' })
    expect(text).toMatch(/email you a code|Code per E-Mail/)
    expect(text + html).not.toMatch(/:\/\/|<a |\b[2-9A-HJ-NP-Z]{6}\b/)
  })
})

describe('the time that a code is valid', () => {
  it.each([
    ['en', 3_600_000, '1 hour'],
    ['en', 3_599_400, '1 hour'],
    ['en', 2_700_000, '45 minutes'],
    ['en', 5_400_000, '90 minutes'],
    ['en', 7_200_000, '2 hours'],
    ['en', 30 * 86_400_000, '30 days'],
    ['en', 7 * 86_400_000 - 90_000, '7 days'],
    ['en', 86_400_000 - 90_000, '24 hours'],
    ['en', 5.8 * 86_400_000, '5 days'],
    ['en', 5000, '1 minute'],
    ['en', -5000, '1 minute'],
    ['de', 3_600_000, '1 Stunde'],
    ['de', 3 * 86_400_000, '3 Tage'],
  ])('in %s %d ms is %s', (language, validFor, shown) => {
    expect(mails.render(language, { ...values, validFor }).text).toContain(` ${shown}.`)
  })
})

describe('the display name', () => {
  it('is escaped in HTML, in text and in attributes', () => {
    const { html } = mails.render('en', { ...values, displayName: `Conan "O'Brien" & Co`, url: `https://x/"><b>'` })
    expect(html).toContain('Hello Conan &quot;O&#39;Brien&quot; &amp; Co,')
    expect(html).toContain('href="https://x/&quot;&gt;&lt;b&gt;&#39;"')
  })

  it('cannot break a line or reverse the direction of the text', () => {
    expect(greetedName('Gigi\r\n\r\nBcc: x\u2028\u202egnirts')).toBe('')
    expect(greetedName('Gigi\r\nGiraffe\u202e\u0000')).toBe('Gigi Giraffe')
    const { text } = mails.render('en', { ...values, url: 'https://x/\r\nSubject: y\u2028' })
    expect(text).toContain('\nhttps://x/ Subject: y \n')
  })

  it('is not filled in a second time', () => {
    expect(mails.render('en', { ...values, displayName: '$& $1 $$' }).text).toContain('Hello $& $1 $$,')
    expect(mails.render('en', { ...values, displayName: '{{code}}' }).text).toMatch(/^Hello,/)
  })

  it.each([
    'Your prize: https://evil.example',
    'see evil.example',
    'www evil。example',
    'evil．example',
    'write to me@evil',
    'call +49 (0)30 1234567',
    '<b>bold</b>',
    'gigi\\evil',
    'evil.\u200cexample',
    'evil\u00ad.\u00adexample',
    'https\u034f:\u034f//x',
    'evil\ufe0f.\ufe0fexample',
  ])('does not carry a message to a stranger: %s is left out', (name) => {
    expect(greetedName(name)).toBe('')
  })

  it.each([
    'J. R. R. Tolkien',
    'J.R.R. Tolkien',
    'Anne-Marie O’Neil',
    '李小龍',
    'Gigi the 3rd',
    'José',
    'محمد',
    '👩‍👩‍👧 Smith',
  ])('is shown if it is a name: %s', (name) => {
    expect(greetedName(name)).toBe(name)
  })

  it('is cut if it is long', () => {
    expect(greetedName('Gigi '.repeat(40))).toBe(`${'Gigi '.repeat(8).trim()}…`)
    expect(greetedName(`Z${'\u0301'.repeat(190)}`)).toBe('')
  })
})

describe('a broken mail file stops the start, and the error names it:', () => {
  let folder = ''
  afterEach(() => rmSync(folder, { recursive: true, force: true }))

  function broken(file: string, change: (text: string) => string): () => unknown {
    folder = mkdtempSync(join(tmpdir(), 'mails-'))
    cpSync(new URL('./texts/en', import.meta.url), join(folder, 'en'), { recursive: true })
    cpSync(new URL('./texts/en', import.meta.url), join(folder, 'fr'), { recursive: true })
    const path = join(folder, file)
    writeFileSync(path, change(readFileSync(path, 'utf8')))
    return () => loadMails(pathToFileURL(`${folder}/`))
  }

  it('a file without the code', () => {
    expect(broken('fr/email-code.txt', (text) => text.replace('{{code}}', ''))).toThrow(
      'fr/email-code.txt lacks {{code}}',
    )
  })

  it('a placeholder that does not exist', () => {
    expect(broken('fr/email-code.txt', (text) => `${text}{{surname}}`)).toThrow('has the unknown {{surname}}')
    expect(broken('fr/email-code.txt', (text) => text.replace('Verify', '{{code}}'))).toThrow(
      'fr/email-code.txt (subject) has the unknown {{code}}',
    )
    expect(broken('fr/email-code.txt', (text) => `${text}{{ code }}`)).toThrow(
      'has braces that belong to no placeholder',
    )
  })

  it('a text without its subject line', () => {
    expect(broken('fr/email-code.txt', (text) => text.replace('Subject', 'Sujet'))).toThrow(
      'fr/email-code.txt does not begin',
    )
  })
})
