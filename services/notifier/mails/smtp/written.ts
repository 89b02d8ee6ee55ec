/**
 * Returns the address if it is safe in SMTP and in a header. It must be one addr-spec of RFC 5321 without quotes,
 * comments, lists, encoded words or anything beyond ASCII. Relies on no earlier check. Throws an error that `readRefusal` reads as
 * permanent.
 */
export function writtenAddress(email: string): string {
  if (email.length <= 254 && addrSpec.test(email) && !email.includes('=?')) return email
  throw unwritable('EENVELOPE')
}

const addrSpec =
  /^[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]+@[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?(\.[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?)*$/

/** Returns the link if it is http or https, with every special character encoded. Throws as `writtenAddress` does. */
export function writtenLink(url: string): string {
  const parsed = URL.parse(url)
  if (parsed && ['http:', 'https:'].includes(parsed.protocol) && parsed.username + parsed.password === '')
    return parsed.href
  throw unwritable('EMESSAGE')
}

/** Returns the id in the form of a message id's left side. */
export function writtenId(id: string): string {
  return id.replace(/[^A-Za-z0-9-]/g, '')
}

function unwritable(code: string): Error {
  return Object.assign(new Error('this cannot be written in a mail'), { code, command: unwritten })
}

/** Stands in these errors instead of an SMTP command. */
export const unwritten = 'NONE'
