/** Does something with each item, a few at a time. */
export async function each<Item>(items: Item[], act: (item: Item) => Promise<void>): Promise<void> {
  const rest = items.values()
  const worker = async () => {
    for (const item of rest) await act(item)
  }
  await Promise.all(Array.from({ length: 8 }, worker))
}
