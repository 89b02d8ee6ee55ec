import type {
  EmailCode,
  GetEmailCodeRequest,
  GetEmailCodeResponse,
  MailKey,
} from '#gen/roster/users/v1/internal_service'
import { orUnavailable, readNow } from '#lib/database/database'
import type { Context } from '../../context.ts'
import { dress } from './dress-mail.ts'
import { eachMail } from './each-mail.ts'
import { kindOf } from './mail-kinds.ts'
import { withProviders } from '../providers-of-invited.ts'

export async function getEmailCode(
  context: Context,
  { mails, ...one }: GetEmailCodeRequest,
): Promise<GetEmailCodeResponse> {
  const contentOf = async ({ kind, ...mail }: MailKey) => {
    const text = await kindOf(kind).content(context, mail)
    return text && dress(context, await withProviders(context, mail.userId, text))
  }
  const time = await orUnavailable(readNow(context.sql))
  if (mails.length === 0) return { ...codeOf(await contentOf(one)), contents: [], time }
  const found = await eachMail(context.log, mails, contentOf)
  const contents = found.map((mail) => (mail.done ? { ...codeOf(mail.value), unknown: false } : { unknown: true }))
  return { contents, time }
}

const codeOf = (code: EmailCode | undefined) => (code ? { code } : {})
