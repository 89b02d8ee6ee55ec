import type { DescField } from '@bufbuild/protobuf'
import { BinaryReader, WireType } from '@bufbuild/protobuf/wire'
import { codes, type RosterError } from '#lib/errors'
import type { ArrivedCall } from './arrived-call.ts'

/** Records a call that was refused with PERMISSION_DENIED, if its caller is known. `request`: as far as it was read. */
export function recordRefusal(call: ArrivedCall, error: RosterError, request?: Uint8Array): void {
  const { gateway, arrival, userId, subject } = call
  if (error.code !== codes.PERMISSION_DENIED || userId === '') return
  const { header, requestId, method } = arrival
  const organization = call.actsIn ?? (header('x-service-orgid') || header('x-zitadel-orgid') || call.home)
  const { project } = method.access
  const field = method.desc.input.fields.find(({ name }) => name === project && name === 'project_id')
  const refusal = {
    userId,
    requestId,
    organizationId: idOf(organization),
    method: subject,
    projectId: field && request ? idOf(readText(field, request)) : '',
    time: new Date(),
  }
  gateway.refusals.record(refusal, call.home)
}

// What is no id is no place where anybody has a role.
function idOf(text: string): string {
  return /^[\x21-\x7e]{1,200}$/.test(text) ? text : ''
}

// Nothing is decided by it: the service has refused the call. A wrong text could only spoil the explanation.
function readText({ number }: DescField, request: Uint8Array): string {
  let text = ''
  try {
    const reader = new BinaryReader(request)
    while (reader.pos < reader.len) {
      const [field, wireType] = reader.tag()
      if (field === number && wireType === WireType.LengthDelimited) text = reader.string()
      else reader.skip(wireType, field)
    }
  } catch {
    // The service refused the call before it read this.
  }
  return text
}
