import { text } from 'node:stream/consumers'

interface Call {
  token: string
  organization: string
  request: any
}

interface Status {
  code: number
  message: string
  details: { reason?: string; fieldViolations?: { field?: string }[] }[]
}

const { url, calls } = JSON.parse(await text(process.stdin)) as { url: string; calls: Record<string, Call> }
export { url, calls }

export function headersOf({ token, organization }: Call) {
  return { authorization: `Bearer ${token}`, 'x-service-orgid': organization }
}

export function print(answers: Record<string, unknown>, { code, message, details }: Status) {
  const reason = details.find((detail) => detail.reason)?.reason
  const field = details.flatMap((detail) => detail.fieldViolations ?? [])[0]?.field
  console.log(JSON.stringify({ answers, error: { code, message, reason, field } }))
}
