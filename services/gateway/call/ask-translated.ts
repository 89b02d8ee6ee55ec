import { fromBinary, toBinary } from '@bufbuild/protobuf'
import { reflect, type ReflectMessage } from '@bufbuild/protobuf/reflect'
import { toRosterError } from '#lib/errors'
import type { Answered } from '#lib/rpc/call'
import { parse } from '#lib/rpc/validate'
import type { ArrivedCall } from './arrived-call.ts'
import { ask } from './ask.ts'
import type { IdentifiedCall } from './identify.ts'
import { askPages, type ReadAnswer } from './ask-pages.ts'
import type { Translation } from '../../../compat/zitadel/translation/compatible-methods.ts'
import { nameFields } from '../../../compat/zitadel/translation/name-fields.ts'
import { translateAnswer } from '../../../compat/zitadel/translation/translate-answer.ts'
import { translateRequest } from '../../../compat/zitadel/translation/translate-request.ts'

/**
 * Asks the service in Roster's words, and gives its answer in those of the reference system. The request is decoded
 * here and written anew, so no service reads the client's own bytes. Errors of `parse`, `translateRequest`, `actIn`
 * and `ask`.
 */
export async function askTranslated(
  arrived: ArrivedCall,
  identified: IdentifiedCall,
  { usual, special }: Translation,
  bytes: Uint8Array,
): Promise<Answered> {
  const foreign = parse(usual.request.foreign, bytes, { readUnknownFields: true })
  const { method, request, answer, list } = special.find(({ isMeant }) => isMeant(foreign)) ?? usual
  arrived.subject = method.subject
  const call = { ...identified, method }
  const translated = translateRequest(request, foreign)
  const { organization } = translated
  if (organization) {
    arrived.actsIn = organization.id
    await identified.actIn(organization.id, organization.field)
  }
  try {
    const { answered, message, total } = list
      ? await askPages(arrived, call, list, translated)
      : await askOnce(call, translated.request)
    return { ...answered, bytes: toBinary(answer.foreign, translateAnswer(answer, message, total)) }
  } catch (error) {
    throw nameFields(request, toRosterError(error))
  }
}

async function askOnce(call: IdentifiedCall, request: ReflectMessage): Promise<ReadAnswer> {
  const answered = await ask(call, toBinary(request.desc, request.message))
  const answer = reflect(call.method.desc.output, fromBinary(call.method.desc.output, answered.bytes))
  return { answered, message: answer.message, total: countObjects(answer) }
}

// Where no page is asked for, the answer has the whole list.
function countObjects(answer: ReflectMessage): number {
  const [objects, ...others] = answer.fields.filter((field) => field.fieldKind === 'list')
  return objects && others.length === 0 ? answer.get(objects).size : 0
}
