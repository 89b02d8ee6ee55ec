import { expect, test } from 'vitest'
import type { Gateway } from '../../call/gateway.ts'
import { findConsole } from './routes.ts'

const config = { PUBLIC_URL: 'https://id.example.com', CONSOLE_URL: '' } as Gateway['config']
const isTaken = (hasConsole: boolean, accept: string, method = 'GET') => {
  const request = { method, headers: { accept, host: 'id.example.com' } } as never
  return findConsole({ config, hasConsole }, { request, path: '/', query: '' }) !== undefined
}

test('the host itself leads a browser to the console where there is one; a program gets the list of pages', () => {
  const browser = 'text/html,application/xhtml+xml,*/*;q=0.8'
  expect(isTaken(true, browser)).toBe(true)
  expect(isTaken(false, browser)).toBe(false)
  expect(isTaken(true, '*/*')).toBe(false)
  expect(isTaken(true, 'application/json')).toBe(false)
  expect(isTaken(true, browser, 'HEAD')).toBe(false)
})
