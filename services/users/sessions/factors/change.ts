import { randomUUID } from 'node:crypto'
import type { ObjectDetails } from '#gen/roster/object/v1/object'
import type { Write } from '#lib/database/database'
import { RosterError } from '#lib/errors'
import { type Aggregate, details } from '#lib/eventstore/aggregate'
import type { Decision, Guard } from '#lib/eventstore/command'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../../context.ts'
import { type FactorMail, mailOfFactors, telling, toldOrNot } from '../../directory/email/factor-mails.ts'
import type { Human } from '../../directory/events/human.ts'
import { type User, type UserEvent, userKey } from '../../directory/events/user.ts'
import { existing } from '../../directory/states/user-state.ts'

/** A change of the second factors of a user. `decide` throws where it is refused. */
export interface FactorChange {
  userId: string
  told: FactorMail
  decide(human: Human): { events: UserEvent[]; writes: Write[]; guards?: Guard[] }
}

/** Makes it, and tells the person by mail. `more`: of the answer, which a repetition gets again. NOT_FOUND USER_NOT_FOUND; FAILED_PRECONDITION NOT_A_HUMAN. */
export async function changeFactors<More extends object = {}>(
  context: Context,
  { userId, told, decide, more }: FactorChange & { more?: More },
  call: Pick<Call, 'caller' | 'requestId' | 'deadline'>,
): Promise<More & { details: ObjectDetails }> {
  const user = await context.store.load<User>('user', userId)
  const mail = mailOfFactors(told, { userId, organizationId: user?.organizationId ?? '', codeId: randomUUID() })
  const answer = await toldOrNot((isTold) =>
    context.store.execute({
      aggregate: userKey(userId),
      call,
      decide({ state, organizationId }: Aggregate<User>): Decision<UserEvent> {
        const human = humanOf(state)
        const { writes, ...decided } = decide(human)
        const isOwn = ['', userId].includes(call.caller.userId)
        const beside = isTold ? telling(context, mail, { human, organizationId, isOwn }) : { writes: [], uses: [] }
        return { ...decided, writes: [...writes, ...beside.writes], uses: beside.uses, answer: undefined }
      },
      respond: ({ after }) => ({ ...more!, details: details(after) }),
    }),
  )
  await mail.announce(context)
  return answer
}

/** The human. NOT_FOUND USER_NOT_FOUND; FAILED_PRECONDITION NOT_A_HUMAN. */
export function humanOf(user: User | undefined): Human {
  const { human } = existing(user)
  if (!human) throw new RosterError('FAILED_PRECONDITION', 'NOT_A_HUMAN', 'Only a human has second factors.')
  return human
}
