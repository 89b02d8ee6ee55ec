import type { Refusal } from '../../context.ts'

/** A refusal in which no parameter alone is wrong. */
export function refusalOf(clientId: string, cause: Refusal['cause'], description: string): Refusal {
  return { clientId, cause, parameter: '', sent: '', allowed: [], description }
}

/** Of a person who may not come. Who it is, the log says. */
export function refusalOfPerson(clientId: string, reason: string): Refusal {
  return refusalOf(clientId, 'person', `A person was not let in: ${reason}.`)
}

/** Of a client that did not prove who it is. */
export function refusalOfClient(clientId: string, reason: string): Refusal {
  return refusalOf(clientId, 'client', `The application did not prove who it is: ${reason}.`)
}

/** Of a code or a refresh token. The sentence begins with what it is about. */
export function refusalOfGrant(clientId: string, why: string): Refusal {
  return { ...refusalOf(clientId, 'grant', why), parameter: /^([a-z_]+):/.exec(why)?.[1] ?? '' }
}

/** Of a sign-in at an identity provider that proved nobody who could come in. The id is what `sent` holds. */
export function refusalOfProvider(
  clientId: string,
  { idpId, name }: { idpId: string; name: string },
  why: string,
): Refusal {
  const description = `The identity provider ${name} proved nobody who could come in: ${why}.`
  return { ...refusalOf(clientId, 'provider', description), sent: idpId }
}
