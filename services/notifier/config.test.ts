import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { readNotifierConfig } from './config.ts'
import { smtpOptions } from './smtp-url.ts'

const needed = {
  DATABASE_URL: 'postgres://localhost',
  NATS_URL: 'nats://localhost',
  REDIS_URL: 'redis://localhost',
  SMTP_URL: 'smtp://localhost',
  ROSTER_ENCRYPTION_KEY: Buffer.alloc(32).toString('base64'),
  ROSTER_CALLER_KEY: Buffer.alloc(32).toString('base64'),
}

describe('the sender of mails', () => {
  it.each([
    ['https://id.example.com/', 'no-reply@id.example.com'],
    ['https://münchen.example:8443', 'no-reply@xn--mnchen-3ya.example'],
    ['http://localhost:8080', 'no-reply@localhost'],
    ['http://127.0.0.1:8080', 'no-reply@[127.0.0.1]'],
    ['http://[::1]:8080', 'no-reply@[IPv6:::1]'],
  ])('is by default no-reply at the host of PUBLIC_URL %s', (PUBLIC_URL, address) => {
    expect(readNotifierConfig({ ...needed, PUBLIC_URL }).MAIL_FROM).toMatchObject({ name: 'Roster', address })
  })

  it.each([
    ['Sign-in <login@example.com>', { name: 'Sign-in', address: 'login@example.com', domain: 'example.com' }],
    [
      '"Roster, Inc." <login@example.com>',
      { name: 'Roster, Inc.', address: 'login@example.com', domain: 'example.com' },
    ],
    ['login@example.com', { name: '', address: 'login@example.com', domain: 'example.com' }],
    [
      'München <a@München.example>',
      { name: 'München', address: 'a@xn--mnchen-3ya.example', domain: 'xn--mnchen-3ya.example' },
    ],
    ['a@[192.0.2.1]', { name: '', address: 'a@[192.0.2.1]', domain: '[192.0.2.1]' }],
  ])('may be %s', (MAIL_FROM, sender) => {
    expect(readNotifierConfig({ ...needed, MAIL_FROM }).MAIL_FROM).toEqual(sender)
  })

  it.each([
    'example.com',
    'a@b, c@d',
    'Name <a@b> c',
    'Name <>',
    'a@',
    'ä@b.example',
    'a@b@c',
    'a@b_c.example',
    'a@192.0.2.1',
    'a@b.',
    '.a@b.example',
    'a..b@b.example',
    'a@[::1]',
    'a@[192.0.2.999]',
  ])('may not be %s', (MAIL_FROM) => {
    expect(() => readNotifierConfig({ ...needed, MAIL_FROM })).toThrow('MAIL_FROM is not a mail address')
  })

  it('cannot be at a host of PUBLIC_URL that no mail comes from', () => {
    const read = (more: object) => readNotifierConfig({ ...needed, PUBLIC_URL: 'http://my_host:8080', ...more })
    expect(read).toThrow('set MAIL_FROM')
    expect(read({ MAIL_FROM: 'a@b.example' }).host).toBe('my_host:8080')
  })
})

describe('the mail server', () => {
  const read = (SMTP_URL: string, more = {}) => readNotifierConfig({ ...needed, SMTP_URL, ...more })

  it.each([
    ['https://id.example.com:8443', 'id.example.com'],
    ['http://127.0.0.1:8080', '[127.0.0.1]'],
    ['http://my_host:8080', 'b.example'],
  ])('is greeted by a name that servers take, of PUBLIC_URL %s or of the sender', (PUBLIC_URL, name) => {
    expect(read('smtp://localhost', { PUBLIC_URL, MAIL_FROM: 'a@b.example' }).ehloName).toBe(name)
  })

  it.each([
    ['requiretls=true', 'an option that is none of name, requireTLS'],
    ['lmtp=true', 'an option that is none of'],
    ['__proto__=1', 'an option that is none of'],
    ['requireTLS=yes', 'an option requireTLS with a value that it cannot have'],
    ['requireTLS=true&requireTLS=false', 'the option requireTLS twice'],
    ['requireTLS=true&ignoreTLS=true', 'options that demand TLS and do without it'],
    ['name=a%0d%0ab', 'an option name with a value'],
  ])('may not have the option %s', (options, problem) => {
    expect(() => read(`smtp://localhost?${options}`)).toThrow(`SMTP_URL has ${problem}`)
  })

  it('may have each option that docs/settings.md lists, and the page lists all', () => {
    const page = readFileSync(new URL('../../docs/settings.md', import.meta.url), 'utf8')
    const listed = page.split('## Options of `SMTP_URL`')[1]!.matchAll(/^\| `([\w.]+)`/gm)
    expect([...listed].map(([, name]) => name)).toEqual(Object.keys(smtpOptions))
    read('smtps://u:p@mail.example?requireTLS=true&tls.minVersion=TLSv1.3&rateLimit=14&name=id.example.com')
  })
})

describe('the mailbox of bounces', () => {
  const address = 'bounces+*@example.com'
  const read = (MAIL_BOUNCES_IMAP: string, MAIL_BOUNCES_ADDRESS = address) =>
    readNotifierConfig({ ...needed, MAIL_BOUNCES_IMAP, MAIL_BOUNCES_ADDRESS })

  it.each([
    [
      'imaps://u:p@mail.example',
      { host: 'mail.example', port: 993, secure: true, user: 'u', pass: 'p', folder: 'INBOX' },
    ],
    [
      'imap://u%40x:p%2F%25@[::1]:1143/Roster/Bounces',
      { host: '::1', port: 1143, secure: false, user: 'u@x', pass: 'p/%', folder: 'Roster/Bounces' },
    ],
  ])('may be %s', (url, mailbox) => {
    expect(read(url).MAIL_BOUNCES_IMAP).toEqual(mailbox)
  })

  it.each(['pop3://u:secret@h', 'imaps://h', 'imaps://secret@h', 'imaps://u:secret@h?tls=no', 'imaps://u:sec%ret@h'])(
    'may not be %s, and the error does not show it',
    (url) => {
      expect(() => read(url)).toThrow(/^Configuration: MAIL_BOUNCES_IMAP (?!.*sec)/)
    },
  )

  it.each(['*@bounces.example.com', 'b.*.x@example.com'])('may have the addresses %s', (template) => {
    expect(read('imaps://u:p@h', template).returnPaths).toBeDefined()
  })

  it.each(['bounces@example.com', 'b*c*@example.com', 'b@*.example.com', '*', 'b *@example.com', 'b+*@ex_ample'])(
    'may not have the addresses %s',
    (template) => {
      expect(() => read('imaps://u:p@h', template)).toThrow('MAIL_BOUNCES_ADDRESS is not an address with one *')
    },
  )

  it('needs addresses that SMTP has room for, and the two settings need each other', () => {
    expect(() => read('imaps://u:p@h', 'b234567890123456*@example.com')).toThrow('more than 15 characters beside its *')
    for (const one of [{ MAIL_BOUNCES_IMAP: 'imaps://u:p@h' }, { MAIL_BOUNCES_ADDRESS: address }])
      expect(() => readNotifierConfig({ ...needed, ...one })).toThrow('set both, or none')
  })
})
