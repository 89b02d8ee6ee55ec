import { Refusal } from '../../refusal.ts'

/** Whether an error comes from what a service stored. Otherwise no service can be looked at. */
export function isOfService(error: unknown): boolean {
  if (error instanceof Refusal) return false
  const { name, code } = error as { name?: string; code?: string }
  // PostgreSQL answered. It is not down, and the connection is not lost.
  if (name === 'PostgresError') return !/^(08|28|53|57P)/.test(code ?? '')
  return error instanceof TypeError || error instanceof RangeError || error instanceof SyntaxError
}
