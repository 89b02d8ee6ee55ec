import { expect, test } from 'vitest'
import { csvOf } from './csv.ts'

test('a spreadsheet takes nothing that somebody stored for a formula, and no cell for two', () => {
  const formulas = ['=1+1', '+1', '-1', '@SUM(A1)', '\t=1', ' =cmd|"/c calc"!A1', '\r=1']
  for (const text of formulas) expect(csvOf([[text]]).replace(/^"/, ''), text).toMatch(/^'/)
  expect(
    csvOf([
      ['Ada', 'a "quoted", text'],
      ['two\nlines', ''],
    ]),
  ).toBe('Ada,"a ""quoted"", text"\r\n"two\nlines",\r\n')
})
