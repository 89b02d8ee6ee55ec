import type { Round } from './plan.ts'

/** The promises that hold whatever happens, each in the words of the table. */
export const promises = {
  once: 'each acknowledged write is there once',
  answer: 'a repeated key has the first answer',
  sequences: 'sequences without a gap',
  stream: 'the stream is what is stored',
  webhook: 'each event reaches the webhook, in order',
  follow: 'who follows the API has what is stored',
  mail: 'each living code is mailed, again only the same',
  cascade: 'what is removed takes all with it, by name',
  forgotten: 'of removed users no name is left to read',
  receipt: 'each removal has a receipt that verifies offline',
  deadline: 'calls end in time',
  clear: 'errors say to come again',
  signedIn: 'who is signed in stays so',
  alone: 'nothing else ends',
} as const
export type Promised = keyof typeof promises

/** The outcome of a round. */
export interface Outcome {
  round: Round
  name: string
  writes: number
  retries: number
  unanswered: number
  errors: Record<string, number>
  /** Addresses that got their code more than once. */
  twice: number
  /** Events that reached the webhook again. */
  again: number
  /** Refresh tokens that were used, and sign-ins without a question, by people who were signed in before. */
  refreshes: number
  silent: number
  /** The end of the round, in milliseconds. */
  until: number
  violations: Record<Promised, string[]>
}

/** All violations, each with its promise. */
export function violationsOf({ violations }: Outcome): string[] {
  return Object.entries(violations).flatMap(([promised, wrong]) => wrong.map((sentence) => `${promised}: ${sentence}`))
}
