import type { FeedEvent } from '#gen/console/api'
import { sentences } from './sentences.ts'

/** What an event says in a sentence. One that has none here shows its type. */
export function sayEvent({ type = '' }: FeedEvent): string {
  const name = type.replace(/^roster\./, '').replace(/\.v\d+$/, '')
  return (sentences as Record<string, string>)[name] ?? name
}
