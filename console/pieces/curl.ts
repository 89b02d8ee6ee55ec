import type { Sent } from '../api/sent.ts'

/** The call as somebody types it into a shell, with a token of their own. */
export function curlOf({ method, request, options }: Sent, origin: string): string {
  const headers = ['authorization: Bearer $TOKEN', 'content-type: application/json']
  if (options.organization) headers.push(`x-service-orgid: ${options.organization}`)
  if (options.sequence !== undefined) headers.push(`if-match: "${options.sequence}"`)
  const lines = [
    `curl ${quote(`${origin}/${method}`)}`,
    ...headers.map((header) => `-H ${header.includes('$TOKEN') ? `"${header}"` : quote(header)}`),
    `-d ${quote(JSON.stringify(request))}`,
  ]
  return lines.join(' \\\n  ')
}

// Nothing in single quotes means anything to a shell but the next quote.
function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}
