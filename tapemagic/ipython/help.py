"""Usage of each magic, and its help text below the options."""

from __future__ import annotations

USAGE = {
    "%%tape": """
%%tape [NAME ...] [-t NAME ...] [-o ORDER] [-p] [-n TAPE_NAME]
         [--no-auto-watch] [--plain] [--jacobian] [--hessian] [--check]
         [--code] [--compute] [--what-if NAME[=LOW:HIGH] ...]
         [--plot NAME=LOW:HIGH]
""",
    "%tape": "%tape [-o ORDER] EXPRESSION",
    "%tape_graph": "%tape_graph [TARGET] [--iteration K] [--nodes N] [--dot]",
    "%tape_function": "%tape_function FUNCTION [ARGUMENT ...]",
    "%gradient": "%gradient TARGET SOURCE ...",
    "%why": "%why TARGET SOURCE",
    "%check_gradient": "%check_gradient MINE TARGET SOURCE [--rtol RTOL] [--atol ATOL]",
}

MORE = {
    "%%tape": """
The magic stands on the first line of a cell. The cell runs once, and what it
assigns stays in the notebook. In the cell and after it, ``tape`` is a
GradientTape. The report shows the verdict in a few sentences, the variables,
the graph of the operations, and the gradients; where a gradient is None, it
says why. The value of the last expression is the attribute ``value`` of the
report. A semicolon at the end of the cell hides the report.

Examples
--------
One variable, and its first and second derivative::

  %%tape x -o 2
  x = 2.0
  y = np.sin(x) * x**2

A regression, whose Variables are watched automatically::

  w, b = tapemagic.Variable(0.5), tapemagic.Variable(0.0)

  %%tape
  loss = np.mean((w * data + b - labels) ** 2)

All second derivatives of a function of two variables::

  %%tape x y -t z --hessian
  x, y = 1.0, 2.0
  z = (1 - x)**2 + 100 * (y - x**2)**2

A function and its first three derivatives as curves::

  %%tape --plot x=-6:6 -o 3
  x = 1.0
  y = np.sin(x)**2

The derivatives as a program of NumPy, in a tab that is there without the
option, too, and is then written when it is opened::

  %%tape x --code
  x = 2.0
  y = np.sin(x) * x**2

Plain numbers after the cell, for json, tables and other libraries::

  %%tape x --plain
  x = 2.0
  y = np.sin(x) * x**2

A loss over a Dask array, which is computed for the report::

  %%tape --compute
  X = dask.array.random.normal(size=(100_000, 3), chunks=(25_000, 3))
  loss = np.mean((w * X - 1) ** 2)

A training loop, with a tape of its own in every step::

  %%tape
  for step in range(20):
      with tapemagic.GradientTape() as inner:
          loss = np.mean((w * data + b - labels) ** 2)
      dw, db = inner.gradient(loss, [w, b])
      w.assign_sub(0.1 * dw)
      b.assign_sub(0.1 * db)

Sliders for two numbers, which run the cell again and renew the report::

  %%tape a --what-if a b=-3:3
  a, b = 1.0, 0.5
  y = np.sin(a) + b * a

Every such run starts where the first one started: names, Variables, lists,
dicts, sets, arrays, tables of pandas, your own objects and classes, and random
generators get back what they had. What other cells changed since is kept, and
the runs begin with it; the report names it. Files, iterators, objects of other
libraries and arrays of more than 256 MB are not set back: before the first
move, the cell runs once with the same numbers, and the report says if its
result was another. The notebook then has the values of the last run. A name
that is deleted stays deleted. The first assignment of a name is
replaced, later ones run as written. What such a run prints stands in the
report; its pictures are not shown.

See also
--------
%tape              the same for one expression
%tape_graph        the graph alone, and more of it
%gradient          more gradients of the last %%tape cell
%why               why a gradient is None, or which paths it sums up
%check_gradient    your own derivative compared with the tape's
%tape_function     the programs of a function decorated with tapemagic.function
%config TapeMagics digits, nodes, first tab, theme and drawing of reports
""",
    "%tape": """
The report is that of a %%tape cell. The variables keep their values and types.
The report is shown also where the magic is not the last line of a cell, in a
loop or in a function; a semicolon behind the expression hides it.

Examples
--------
::

  %tape x**2 + 1
  %tape -o 2 np.sin(x) * np.exp(-x)
  report = %tape np.sum(a**2)

See also
--------
%%tape             the same for a whole cell, with more options
%config TapeMagics digits, nodes, first tab, theme and drawing of reports
""",
    "%tape_graph": """
The result shows the graph as a picture, and as text with an equation for each
operation. Its attribute ``dot`` is the source of the picture.

Examples
--------
::

  %tape_graph
  %tape_graph loss --nodes 500
  %tape_graph --iteration 1
  source = %tape_graph --dot

See also
--------
%%tape             record a cell, and show its report
%config TapeMagics nodes, theme and drawing of reports
""",
    "%tape_function": """
The answer is the source of the function's programs: one for each signature of
its calls, and for each way through it. Where calls run without a program, it
says why, and on which line. With arguments behind the function, it is the
program of a call with arguments like these. Nothing is called.

Examples
--------
::

  @tapemagic.function
  def slope(x):
      with tapemagic.GradientTape() as tape:
          tape.watch(x)
          y = x * np.sin(x)
      return tape.gradient(y, x)

  %tape_function slope
  %tape_function slope tapemagic.constant(2.0)

See also
--------
%%tape --code      the derivatives of a cell as a program
""",
    "%gradient": """
Target and sources are names of tensors of that cell. One source gives one
gradient, several give a list. A gradient that does not exist is None, and a
sentence says why. The tape is not used up.

Examples
--------
::

  %gradient loss w
  dw, db = %gradient loss w b

See also
--------
%why               why a gradient is None, or which paths it sums up
""",
    "%why": """
Target and source are names, or attributes and subscripts such as ``model.w``
and ``params["w"]``.

Examples
--------
::

  %why loss w
  %why loss params["w"]

See also
--------
%gradient          the gradient itself
""",
    "%check_gradient": """
The answer says whether all entries agree, lists those that do not, and names
the slip that would explain the difference, if there is a usual one. Its
attribute ``ok`` is True or False.

Examples
--------
::

  %%tape x
  y = np.sum(x**2)

  %check_gradient 2 * x y x
  %check_gradient my_gradient(x) y x --rtol 1e-3

See also
--------
%gradient          the gradient itself
""",
}
