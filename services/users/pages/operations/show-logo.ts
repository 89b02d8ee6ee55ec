import type { PageAnswer, ShowLogoRequest } from '#gen/roster/users/v1/sign_in_service'
import { show } from '../../openid/authorization/answer.ts'
import type { Context } from '../../context.ts'
import { findLogo } from '../../sessions/login-policy/logos.ts'

export async function showLogo({ sql }: Context, { hash }: ShowLogoRequest): Promise<PageAnswer> {
  return show({ $case: 'logo', value: { content: await findLogo(sql, hash) } })
}
