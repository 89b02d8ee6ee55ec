import type { EmailCode } from '#gen/roster/users/v1/internal_service'
import { createCache, type Cache } from '#lib/cache'
import type { Context } from '../../context.ts'
import type { MailText } from '../../directory/email/mail-kind.ts'
import { loadApplication } from '../../openid/applications/find-application.ts'
import { isSignIn } from '../../openid/request/parameters.ts'
import { organizationOfPages } from '../../openid/request/request-organization.ts'
import { findRequest } from '../../openid/request/request-row.ts'
import { requestOfLink } from '../../pages/recovery/forgetful-call.ts'
import { brandOf } from '../../pages/sign-in/branded.ts'

/** Says whose mail it is: of the application whose page asked for it, else of the organization; and how it looks. */
export async function dress(context: Context, { from, ...mail }: MailText): Promise<EmailCode> {
  const requestId = from.requestId ?? requestOfLink(context.config, mail.url)
  const request = requestId && (await findRequest(context, requestId, 'explanation', isSignIn))
  const { clientId = '' } = request ? request.parameters : {}
  const asking = clientId === '' ? undefined : await loadApplication(context, { clientId })
  const looksAs = request && asking ? await organizationOfPages(context, request.parameters) : from.organizationId
  const application = mail.applicationName || asking?.application.name
  return {
    providers: [],
    ...mail,
    name: application || (await nameOfOrganization(context, from.organizationId)),
    brand: await brandOf(context, looksAs),
  }
}

// Milliseconds.
const [answerWithin, knownFor, missedFor] = [2000, 60_000, 5000]
const names = new WeakMap<Context['grants'], Cache<string>>()

// Empty where grants does not say it: a mail does not wait for that.
async function nameOfOrganization({ grants }: Pick<Context, 'grants'>, organizationId: string): Promise<string> {
  let known = names.get(grants)
  if (!known) names.set(grants, (known = createCache({ capacity: 1000, maxAge: knownFor })))
  return known.get(organizationId) ?? known.obtain(organizationId, ask)

  async function ask() {
    const by = { $case: 'organizationId', value: organizationId } as const
    try {
      const { name } = await grants.lookupOrganization({ by }, { requestId: '', deadline: Date.now() + answerWithin })
      return { value: name }
    } catch {
      return { value: '', until: Date.now() + missedFor }
    }
  }
}
