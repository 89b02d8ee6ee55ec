import { describe, expect, it } from 'vitest'
import { readRefusal } from './smtp-refusal.ts'

const refusal = (code: string, command: string, response = '') =>
  readRefusal({ code, command, response, responseCode: Number(response.slice(0, 3)) || undefined })

describe("what a mail server's refusal means", () => {
  it('a 5xx to the address or the mail is for good', () => {
    expect(refusal('EENVELOPE', 'RCPT TO', '550 5.1.1 <gigi@example.com> unknown')).toMatchObject({ permanent: true })
    expect(refusal('EMESSAGE', 'DATA', '554 no')).toMatchObject({ permanent: true })
  })

  it('a 4xx and a lost connection are not', () => {
    expect(refusal('EENVELOPE', 'RCPT TO', '451 4.7.1 greylisted')).toMatchObject({
      permanent: false,
      ours: false,
      answered: true,
    })
    expect(refusal('ECONNECTION', 'CONN')).toEqual({
      permanent: false,
      ours: false,
      answered: false,
      reason: 'ECONNECTION',
    })
    expect(refusal('ETIMEDOUT', 'CONN')).toMatchObject({ permanent: false, ours: false })
  })

  it.each([
    ['EAUTH', 'AUTH PLAIN', '535 5.7.8 bad credentials'],
    ['EENVELOPE', 'RCPT TO', '530 5.7.0 authentication required'],
    ['EENVELOPE', 'MAIL FROM', '553 5.7.1 not your address'],
    ['EPROTOCOL', 'CONN', '554 no service for you'],
    ['EAUTH', 'API', ''],
  ])('a refusal of ourselves (%s to %s %s) is tried again, for it is our settings that are wrong', (...args) => {
    expect(refusal(...args)).toMatchObject({ permanent: false, ours: true })
  })

  it('says what happened in numbers and our own words, since servers repeat addresses', () => {
    const { reason } = refusal('EENVELOPE', 'RCPT TO', '550 5.1.1 <gigi@example.com>: Recipient address rejected')
    expect(reason).toBe('SMTP 550 5.1.1: the mail server refused the address.')
    expect(refusal('gigi@example.com', 'CONN').reason).toBe('the mail server did not take it')
  })

  it('an address that SMTP cannot write is refused for good', () => {
    expect(refusal('EENVELOPE', 'API')).toMatchObject({ permanent: true })
  })
})
