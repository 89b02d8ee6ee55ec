import postgres from 'postgres'
import { expect, test } from 'vitest'
import { guard } from './guard.ts'

test.each(['reserve', 'listen', 'notify', 'file', 'subscribe', 'largeObject'] as const)(
  'a guarded session has no %s, which would begin statements without the guard',
  (name) => {
    expect(() => guard(postgres('postgres://127.0.0.1:9'))[name]).toThrow(`${name} has no guard`)
  },
)
