import type { PageAnswer, ShowLogoRequest } from '#gen/roster/users/v1/sign_in_service'
import { show } from '../../authorization/answer.ts'
import type { Context } from '../../context.ts'
import { findLogo } from '../../logos/logos.ts'

export async function showLogo({ sql }: Context, { hash }: ShowLogoRequest): Promise<PageAnswer> {
  return show({ $case: 'logo', value: { content: await findLogo(sql, hash) } })
}
