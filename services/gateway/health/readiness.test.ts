import { expect, test } from 'vitest'
import { isReady, services } from './readiness.ts'

test('without the broker, users or grants a gateway is not ready; without any other service it is', () => {
  const needed = ['gateway', 'nats', ...services].filter((name) => !isReady([name]))
  expect(needed.toSorted()).toEqual(['gateway', 'grants', 'nats', 'users'])
  expect(services.length).toBeGreaterThan(2)
})
