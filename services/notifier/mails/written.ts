/**
 * The address as it may be written to a mail server and into a header: one addr-spec of RFC 5321 without quotes, comments, lists or
 * anything beyond ASCII, whatever was looked at before. Throws what `readRefusal` takes for good.
 */
export function writtenAddress(email: string): string {
  if (email.length <= 254 && addrSpec.test(email)) return email
  throw unwritable('EENVELOPE')
}

const addrSpec =
  /^[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]+@[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?(\.[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?)*$/

/** The link as a mail may show it: http or https, with everything encoded that is more than text. Throws as `writtenAddress` does. */
export function writtenLink(url: string): string {
  const parsed = URL.parse(url)
  if (parsed && ['http:', 'https:'].includes(parsed.protocol) && parsed.username + parsed.password === '')
    return parsed.href
  throw unwritable('EMESSAGE')
}

/** The left side of a message id. */
export function writtenId(id: string): string {
  return id.replace(/[^A-Za-z0-9-]/g, '')
}

function unwritable(code: string): Error {
  return Object.assign(new Error('this cannot be written in a mail'), { code, command: unwritten })
}

/** In the place of the SMTP command. */
export const unwritten = 'NONE'
