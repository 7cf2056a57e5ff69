"""A spot measurement of a ring, as it was watched: 31 ticks of zeros, then times between beats, values from the 51st to
the 60th tick, and then nothing more."""

import asyncio
import struct

import ring_frames as frames

ZEROS, INTERVALS, VALUES = 31, 19, 10
BEATS = [857, 857, 845, 870]  # in ms; each is told twice
HEART_RATES = [71, 71, 70, 70, 70, 70, 69, 69, 70, 70]
OXYGEN = [95, 96, 96, 97, 97, 97, 97, 98, 98, 97]
NO_SKIN_TICK = 7


class Measurement:
    def __init__(self, ring, connection, kind):
        self.ring, self.connection, self.kind = ring, connection, kind
        self.task = asyncio.create_task(self.run())
        self.task.add_done_callback(lambda task: task.cancelled() or task.result())

    def stop(self):
        self.task.cancel()

    async def tell(self, status, value, final, interval):
        await self.ring.send(self.connection, frames.frame(
            frames.MEASURE_START,
            struct.pack("<BBBBBH", self.kind, status, value, final, 0, interval)))

    async def run(self):
        for tick in range(1, ZEROS + INTERVALS + VALUES + 1):
            await asyncio.sleep(self.ring.options.tick)
            if not self.ring.options.worn:
                await self.tell(int(tick == NO_SKIN_TICK), 0, 0, 0)
                if tick == NO_SKIN_TICK:
                    return
                continue
            interval = BEATS[tick // 2 % 4] if tick > ZEROS and self.kind == frames.HEART_RATE else 0
            number = tick - ZEROS - INTERVALS - 1
            if number < 0:
                await self.tell(0, 0, 0, interval)
            elif self.kind == frames.SPO2:
                await self.tell(0, OXYGEN[number], int(number == VALUES - 1), 0)
            else:
                await self.tell(0, HEART_RATES[number], 0, interval)
