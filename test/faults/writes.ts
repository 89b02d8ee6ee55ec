import type { JsonObject } from '@bufbuild/protobuf'
import type { Operation } from '../examples/contract.ts'
import type { Random } from './random.ts'

/** The objects of one writer. No other writer changes them. */
export interface Belongings {
  idpId: string
  projectId: string
  /** Users without a grant in the project so far. */
  ungranted: string[]
  humans: string[]
}

/** A write and its expected effect on the store. */
export interface Write {
  operation: Operation
  request: JsonObject
  /** Types of the events that it makes, in order. */
  events: string[]
  /** The address that should get a code by mail. */
  mailTo?: string
  /** Takes over data from the answer. */
  acknowledged?(answer: any): void
}

/** The next write of a writer. Its names begin with `id`. */
export function nextWrite(id: string, own: Belongings, random: Random): Write {
  const kinds = [addHuman, addMachine, updateIdp, setEmail, setEmail, setEmail]
  if (own.ungranted.length > 0) kinds.push(addGrant)
  return random.pick(own.humans.length === 0 ? [addHuman] : kinds)(id, own, random)
}

function addHuman(id: string, own: Belongings): Write {
  const mailTo = `${id}@example.com`
  return {
    operation: 'AddHumanUser',
    request: { userName: id, profile: { firstName: 'Ada', lastName: 'Lovelace' }, email: { email: mailTo } },
    events: ['human.added', 'email.code.requested'],
    mailTo,
    acknowledged({ userId }) {
      own.humans.push(userId)
      own.ungranted.push(userId)
    },
  }
}

function setEmail(id: string, own: Belongings, random: Random): Write {
  const email = `${id}@example.com`
  const userId = random.pick(own.humans)
  if (random.next() < 0.4)
    return {
      operation: 'SetEmail',
      request: { userId, email, returnCode: {} },
      events: ['email.changed', 'email.code.returned'],
    }
  return {
    operation: 'SetEmail',
    request: { userId, email },
    events: ['email.changed', 'email.code.requested'],
    mailTo: email,
  }
}

function addMachine(id: string): Write {
  return { operation: 'AddMachineUser', request: { userName: id, name: 'A machine' }, events: ['machine.added'] }
}

function addGrant(_id: string, own: Belongings): Write {
  const userId = own.ungranted.shift()!
  const { projectId } = own
  return { operation: 'AddUserGrant', request: { userId, projectId, roleKeys: ['reader'] }, events: ['added'] }
}

function updateIdp(id: string, own: Belongings): Write {
  return { operation: 'UpdateIDP', request: { idpId: own.idpId, name: id, autoRegister: true }, events: ['changed'] }
}
